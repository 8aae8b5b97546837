"""Codes in sentences of several languages, and numbers in sentences that are none."""

from acud.features.redaction.text_rules import redact

TOLD = [
    "use {} to sign in to your account", "{} is the code for signing in", "Enter {} to confirm your login. Not you?",
    "Type {} when the machine asks for a PIN", "the garage keypad code is {} and the plumber comes at 15:30",
    "Disarm with {} within 30 seconds", "My bike lock opens with {}", "The screen shows a PIN of {}",
    "{} ist dein Bestätigungscode für Kleinanzeigen", "Ihr TAN lautet: {}",
    "Ihr Freischaltcode lautet {} und ist 10 Minuten gültig.", "Gib {} als PIN ein", "Le code de la porte est le {}",
    "Votre code : {}. Il expire dans 5 minutes", "El PIN de la tarjeta es {}", "Il codice è {}, scade tra 5 minuti",
    "O seu código é {}", "De code van de deur is {}", "Je inlogcode is {}", "Twój kod weryfikacyjny to {}",
    "Код для входа: {}. Никому его не сообщайте",
]  # fmt: skip

NO_CODES = [
    "The code is 4821 lines long", "error code is 4012, exit code 137, status code: 404",
    "area code 4155, zip code 94103, postal code: 75011", "Le code postal est 75011, el código postal es 28013",
    "promo code SPRING25 gives 10 % off, booking code LX7720 for gate B14",
    "source code is in /usr/src/linux-6.1, code 39 is a barcode", "Enter your 6-digit code",
    "Use Python 3.11 to sign packages", "We sent a code to +1 415 555 0132", "Call 0800 1234 to confirm your booking",
    "The code review of PR 48211 is done", "GPIO pin 17, pins 3 and 5, PIN 12 of the connector",
    "Der Fehlercode lautet 40412",
]  # fmt: skip


def test_a_code_that_a_sentence_tells_is_hidden() -> None:
    told = [(sentence, code) for sentence in TOLD for code in ("482913", "4471")]
    assert [one for one in told if redact(one[0].format(one[1])) != one[0].format("[REDACTED_CODE]")] == []


def test_other_numbers_stay() -> None:
    assert [redact(sentence) for sentence in NO_CODES] == NO_CODES
