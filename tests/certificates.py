"""An authority, and certificates for servers and clients, made for one test; keys are readable by their owner alone."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


class Pair(msgspec.Struct, frozen=True):
    """A certificate and its key, as PEM files."""

    cert: Path
    key: Path


class Authority:
    """Signs certificates; its own is the file `ca`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.ca = folder / f"{name}.pem"
        own = self._begun(self._name, self._key, dt.timedelta(0)).add_extension(x509.BasicConstraints(True, None), True)
        self.ca.write_bytes(_pem(own.sign(self._key, hashes.SHA256())))

    def certify(self, name: str, *hosts: str, expired: bool = False, passphrase: bytes = b"") -> Pair:
        """Return a certificate of `name` for `hosts`, names or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._begun(subject, key, -2 * _DAY if expired else dt.timedelta(0))
        if hosts:
            made = made.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), False)
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.cert.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))
        pair.key.write_bytes(_key_pem(key, passphrase))
        pair.key.chmod(0o600)
        return pair

    def _begun(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, shift: dt.timedelta
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC) + shift
        return x509.CertificateBuilder(
            self._name, subject, key.public_key(), x509.random_serial_number(), now - _DAY, now + _DAY
        )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(cert: x509.Certificate) -> bytes:
    return cert.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey, passphrase: bytes) -> bytes:
    how = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
