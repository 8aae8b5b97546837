"""Forms and tables as an engine reads them: the cells of secrets are hidden, and no other cell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from acud.features.redaction.screen_boxes import ReadLine, redact_rows
from acud.features.redaction.text_rules import ALL
from acud.types import Rect

LETTER, HIGH, GAP = 8, 16, 4
FORMS = """
Network name (SSID) | Kattegat
Security | WPA2-Personal
Wi-Fi password | *Skagen.Sol77
Channel | 44
Band | 5 GHz

SSID | Fjordhaus
Pre-shared key | *moss lichen fern
WPS PIN | *48219036
Guest key | *besuch-willkommen
MAC address | 3C:22:FB:7A:11:09
Firmware | 7.57.1 build 20418

Benutzername | m.lind
Kennwort | *Birkenhof
Kennwort wiederholen | *Birkenhof
Kundennummer | 118824771
PIN für Telefonbanking | *52081
TAN | *884120

Nom d'utilisateur | jdupont
Mot de passe | *chaton
Code confidentiel | *4471
Numéro de client | 8842 1177
IBAN | *FR14 2004 1010 0505 0001 3M02 606

Username | jane@example.org
One-time code | *448 201
Remember this device | Yes
Backup email | j***@example.org

Host | db.internal
Port | 5432
Database | shop
User | app
Password | *open sesame
SSL mode | require

Card number | *4539 1488 0343 6467
Expiry | 04 / 28
CVC | *318
Name on card | Jane Doe
Postal code | 10115
Promo code | SPRING25

API key | *9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c
API secret | *Zk3vQ0pLx8Rt6Yw2
Callback URL | https://app.example.org/oauth/callback
Client ID | 118824770042-shop
Client secret | *GkQ8-plumTree_2291
Scopes | read write
Created | 2026-09-14
Last used | 2 days ago

Title | Mail
User name | jane
Password | *ducks
URL | https://mail.example.org
Notes | old account, closed in May
Expires | never

Full name | Jane Doe
Date of birth | 23/07/1988
Social security number | *219-09-9999
Passport number | *C01X00T47
Nationality | German
Driver license | *D123-4567-8901
Employee ID | 20418
Tax ID | *65 929 970 489

Alarm code | *7719
Duress code | *7720
Entry delay | 30 s
Zone | 12
Installer code | *123456
Serial number | PF3K9Z7T

Meeting ID | 883 1120 4471
Passcode | *4kQz9b
Host key | *402917
Dial-in | +49 69 7104 9922
Duration | 45 min

License key | *QJ7RT-88KLM-P2XWD-99VBN-4HHTR
Licensed to | Ferry Ltd
Seats | 25
Version | 2026.2
Support ID | SUP-20418

Secret key | *JBSWY3DPEHPK3PXP
Account name | jane@example.org
Type | Time based
Digits | 6
Period | 30

Private key | */Kd92mQp0sLxRt7YwZ3vB5nC8hJ1gF4dS6aE9uI2oP0=
Public key | DZ2Cw0FRPZFfhnBciDK0RojVMF/J3yjya+cqV/o0fD8=
Preshared key | *Qm92mKp0sLxRt7YwZ3vB5nC8hJ1gF4dS6aE9uI2oP1=
Endpoint | vpn.example.org:51820
Allowed IPs | 10.66.0.0/16

Webhook URL | https://hooks.example.org/in/abc
Signing secret | *whsec_9f8a7b6c5d4e3f2a1b0c
Events | push, merge

Voucher code | WIND10
Order number | 4471-0092
Customer number | 118824
Tracking code | 1Z999AA10123456784
Gift card PIN | *4471

Room | 204
Door code | *2580#
Wi-Fi | Hotel-Guest
Wi-Fi code | *kiwi-44-kiwi
Check-out | 11:00
Safe code | *0815

Recovery email | j@example.org
Recovery phone | +49 170 5550122
Recovery code | *7GH2-9KLM-Q3RT
Security question | First pet?
Security answer | *Bello

Password policy | At least 12 characters
Minimum length | 12
Password expiry | 90 days
Token lifetime | 3600 s
Max tokens | 4096
Primary key | id
Pass mark | 60 %

Contraseña | *girasol
Clave de red | *patio.verde.9
Código postal | 28013
DNI | *12345678Z
Número de pedido | 4471-0092

Hasło | *kotek
PESEL | *44051401359
Kod pocztowy | 00-950
NIP | *5261040828

Lösenord | *kanelbulle
Personnummer | *811218-9876
Postnummer | 114 55
Kontonummer | *8327-9 44 123 456-7

TABLE
Name | Value | Protected | Environments
DEPLOY_TOKEN | *Qx7kLm2vR9tWz4Bp | yes | production
NODE_ENV | production | no | all
DB_PASSWORD | *quietOtter | yes | production
SENTRY_RELEASE | 8.3.1 | no | all

TABLE
Site | User | Password | Last changed
NAS | admin | *Dredger_Mist6 | 2026-08-30
Printer | service | *00000000 | 2025-03-19
Kiosk | staff | *kowhai | 2026-06-02

TABLE
Name | Key | Created | Last used
ci | *tw_live_9f8a7b6c5d4e3f2a | 2026-01-11 | today
docs | *tw_live_0b1c2d3e4f5a6b7c | 2026-03-02 | never

TABLE
Key | Value | Type
theme | dark | string
retries | 3 | int
build | 20418 | int

TABLE
Code | Country | Currency
DE | Germany | EUR
FR | France | EUR
4471 | Testland | TST

TABLE
Employee | Door PIN | Extension
Jane | *4471 | 2118
Omar | *9920 | 2119

TABLE
Pass | Date | Price
Ski pass | 2026-12-01 | 44 EUR
Day pass 3 | 2026-12-02 | 12 EUR

TABLE
Token | Holder | Balance
USDC | 0x71C7656EC7ab88b098defB751B7401B5f6d8976F | 1200.50
WETH | 0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599 | 0.42

TABLE
Test | Pass | Fail | Key
login_form2 | 12 | 0 | K-118
reset_mail3 | 9 | 1 | K-119
"""
"""A name and a value per line, or `TABLE` and its rows; `*` stands before each secret. The values are made up."""


def _line(x: int, y: int, text: str) -> ReadLine:
    return ReadLine(text, Rect(x, y, LETTER * len(text), HIGH))


def _left(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    return [[_line(20 + 280 * n, 40 + 30 * at, cell) for n, cell in enumerate(row)] for at, row in enumerate(rows)]


def _above(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    return [
        [_line(20 + 4 * n, 40 + 50 * at + 20 * n, cell)] for at, row in enumerate(rows) for n, cell in enumerate(row)
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[list[ReadLine]]:
    wide = [LETTER * (max(map(len, column)) + GAP) for column in zip(*rows, strict=True)]
    return [
        [_line(20 + sum(wide[:n]), 40 + 24 * at, cell) for n, cell in enumerate(row)] for at, row in enumerate(rows)
    ]


@pytest.mark.parametrize("form", FORMS.strip().split("\n\n"), ids=lambda form: form.split("\n")[1][:20])
def test_the_secrets_of_a_form_are_hidden_and_no_other_cell(form: str) -> None:
    lines = form.split("\n")
    is_table = lines[0] == "TABLE"
    told = [[cell.strip() for cell in line.split("|")] for line in lines[is_table:]]
    plain = [[cell.lstrip("*") for cell in row] for row in told]
    secret = [cell.startswith("*") for row in told for cell in row]
    for laid in (_table,) if is_table else (_left, _above):
        hidden = [one.rule != "" for one in redact_rows(laid(plain), ALL)]
        assert hidden == secret, laid.__name__
