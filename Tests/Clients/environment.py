"""The environment of the servers and of the clients: nothing of the caller's that would lead them elsewhere."""

import os

# Other places to find a CA than SSL_CERT_FILE; settings of curl and Python.
OTHERS = {"SSL_CERT_DIR", "CURL_CA_BUNDLE", "CURL_HOME", "PYTHONPATH"}


def clean() -> None:
    """Takes proxies, certificates and settings of the gateway out of this process's environment, which its children inherit."""
    for name in list(os.environ):
        if name in OTHERS or name.startswith("WIDGETPUSH_") or name.lower().endswith("_proxy"):
            del os.environ[name]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def trust(ca_file: str) -> None:
    """Has every client trust this CA."""
    os.environ["SSL_CERT_FILE"] = ca_file
