"""A certificate for a server of the tests' own."""
import subprocess


def make(folder):
    """Makes a key and a self-signed certificate for localhost in `folder`; returns both files' paths, the key's first."""
    key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate
