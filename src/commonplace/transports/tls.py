"""The certificate that makes http into https."""

from __future__ import annotations

import ssl
from pathlib import Path

from commonplace.domain.errors import Invalid
from commonplace.settings import Settings

_VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def context(settings: Settings) -> ssl.SSLContext | None:
    """None where the settings name no certificate."""
    if not settings.tls_cert:
        return None
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.minimum_version = _VERSIONS[settings.tls_minimum]
    certificate, key = Path(settings.tls_cert).expanduser(), Path(settings.tls_key).expanduser()
    try:
        # An encrypted key would be asked for on the terminal, which a server has none of.
        secured.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ssl.SSLError) as error:
        raise Invalid("tls-cert", f"{certificate} with {key} cannot be used: {error}") from error
    return secured
