// The suite has no option for headers: this adds the credential to every request it makes to the server under test.
import diagnostics from "node:diagnostics_channel";

const value = `Bearer ${process.env.CONFORMANCE_KEY}`;
const isOurs = (host) => host === "127.0.0.1";

diagnostics.subscribe("undici:request:create", ({ request }) => {
  if (isOurs(new URL(request.origin).hostname)) request.addHeader("authorization", value);
});
diagnostics.subscribe("http.client.request.created", ({ request }) => {
  if (isOurs(request.host)) request.setHeader("authorization", value);
});
