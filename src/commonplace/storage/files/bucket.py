"""Where a bucket is, and how it is reached."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import SplitResult, urlsplit

from commonplace.domain.errors import Invalid
from commonplace.ports.files import folder_path

SCHEME = "s3://"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_LONGEST_PREFIX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How a bucket is reached. Without an endpoint or keys it is reached as AWS has it on the machine."""

    endpoint: str = ""
    region: str = "us-east-1"
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    virtual_hosted: bool = False
    """The bucket's name is in the host rather than in the path."""
    allow_http: bool = False
    """Unencrypted to other machines too; to this one it is always allowed."""
    connect_timeout: timedelta = timedelta(seconds=5)
    request_timeout: timedelta = timedelta(seconds=20)
    retries: int = 2
    pause: timedelta = timedelta(milliseconds=100)
    """Before the first retry; before each further one four times as long."""

    def __post_init__(self) -> None:
        if bool(self.access_key) != bool(self.secret_key):
            raise Invalid("s3 keys", "the access key and the secret go together")
        if self.endpoint:
            self._check_endpoint(_split(self.endpoint))

    def _check_endpoint(self, url: SplitResult) -> None:
        if url.scheme not in ("http", "https") or not url.hostname:
            raise Invalid("s3 endpoint", "an https:// address is needed")
        if url.username is not None or url.query or url.fragment:
            raise Invalid("s3 endpoint", "only a host, a port and a path may be in it")
        if url.scheme == "http" and not (self.allow_http or _is_this_machine(url.hostname)):
            raise Invalid("s3 endpoint", f"{url.hostname} is another machine, and http:// would be read on the way")

    def endpoint_of(self, bucket: str) -> str:
        """The address to ask; the bucket's name is in it where hosts bear it."""
        url = urlsplit(self.endpoint.rstrip("/"))
        return url._replace(netloc=f"{bucket}.{url.netloc}").geturl() if self.virtual_hosted else url.geturl()

    @property
    def pauses(self) -> tuple[float, ...]:
        """Seconds before each retry."""
        return tuple(self.pause.total_seconds() * 4**nth for nth in range(self.retries))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, and the folder in it that is the root."""

    name: str
    prefix: str = ""

    def __str__(self) -> str:
        return f"{SCHEME}{self.name}" + (f"/{self.prefix}" if self.prefix else "")

    def key(self, path: str) -> str:
        return "/".join(filter(None, (self.prefix, path)))

    def path(self, key: str) -> str:
        return key.removeprefix(f"{self.prefix}/") if self.prefix else key


def bucket_at(location: str) -> Bucket:
    """From `s3://BUCKET/PREFIX`."""
    name, _, prefix = location.removeprefix(SCHEME).partition("/")
    if not _NAME.fullmatch(name):
        raise Invalid("s3 location", "no bucket has such a name: s3://BUCKET/PREFIX is needed")
    if len(prefix.encode(errors="replace")) > _LONGEST_PREFIX:
        raise Invalid("s3 location", f"the prefix is longer than {_LONGEST_PREFIX} bytes")
    return Bucket(name, folder_path(prefix))


def _split(endpoint: str) -> SplitResult:
    try:
        url = urlsplit(endpoint)
        _ = url.port
    except ValueError as fault:
        raise Invalid("s3 endpoint", "an https:// address is needed") from fault
    return url


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
