"""Certificates of the tests' own: of a server, and of clients as Apple makes them for backends."""
import pathlib
import subprocess

DEVELOPMENT, PRODUCTION = "1.2.840.113635.100.6.3.1=DER:05:00", "1.2.840.113635.100.6.3.2=DER:05:00"


def make(folder):
    """Makes a key and a self-signed certificate for localhost in `folder`; returns both files' paths, the key's first."""
    key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
    _openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-subj", "/CN=localhost", "-keyout", key, "-out", certificate)
    return key, certificate


class Office:
    """An authority in a folder, which makes certificates of clients, several at once if need be: each with a random serial number, since
    a file with the next one would be read by one while another writes it."""

    def __init__(self, folder):
        self.folder, self.authority = folder, f"{folder}/ca.pem"
        _openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=Office",
                 "-keyout", "ca.key", "-out", "ca.pem")

    def make(self, name, subject, *extensions, days=1):
        """Makes a certificate with these lines of extensions; returns the paths of it and of its key."""
        pathlib.Path(f"{self.folder}/{name}.cnf").write_text("\n".join(["[v3]", "extendedKeyUsage=clientAuth", *extensions]) + "\n")
        _openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                 "-keyout", f"{name}.key", "-out", f"{name}.csr")
        _openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", f"{name}.pem",
                 "-extfile", f"{name}.cnf", "-extensions", "v3", "-days", str(days))
        return f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key"


def _openssl(folder, *words):
    """Runs openssl in `folder`; a failure says what openssl said."""
    ran = subprocess.run(["openssl", *words], capture_output=True, text=True, cwd=folder)
    if ran.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(words)}: {ran.stderr.strip()}")
