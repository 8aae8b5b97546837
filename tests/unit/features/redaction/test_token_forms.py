"""The forms of tokens: each names its source, and no form of detect-secrets' plug-ins is missed."""

import re
from importlib.resources import files

import pytest
from detect_secrets.plugins import (
    aws,
    discord,
    github_token,
    gitlab_token,
    jwt,
    mailchimp,
    pypi_token,
    sendgrid,
    stripe,
    telegram_token,
    twilio,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acud.features.redaction.scanner import find_by_rules, token_forms
from acud.features.redaction.spans import RedactedSpan, Rule
from acud.features.redaction.text_rules import find

PLUGINS = (
    github_token.GitHubTokenDetector, mailchimp.MailchimpDetector, sendgrid.SendGridDetector, stripe.StripeDetector,
    pypi_token.PypiTokenDetector,
)  # fmt: skip


def find_tokens(text: str) -> list[RedactedSpan]:
    return list(find_by_rules(text, frozenset({Rule.KEY}), read=False))


FORMS = [pattern for plugin in PLUGINS for pattern in plugin.denylist] + [
    aws.AWSKeyDetector.denylist[0],
    gitlab_token.GitLabTokenDetector.denylist[0],
    twilio.TwilioKeyDetector.denylist[1],
]


def test_each_form_has_a_source_a_date_and_a_pattern_with_its_needle() -> None:
    assert len({(form.id, form.pattern) for form in token_forms()}) == len(token_forms()) > 150
    for form in token_forms():
        assert form.source == "gitleaks" or re.fullmatch(r"20[0-9]{2}-[01][0-9]", form.seen)
        assert form.needles
        # Small letters are searched for a needle where letters of either case match.
        assert not form.any_case or all(needle == needle.lower() for needle in form.needles), form.id
        assert re.compile(form.pattern).groups <= 1
    head = (
        files("acud.features.redaction")
        .joinpath("gitleaks_token_forms.toml")
        .read_text(encoding="utf-8")
        .split("[[form]]")[0]
    )
    assert re.search(r"gitleaks [0-9.]+ \(MIT licence.*\n# written 20[0-9]{2}-[01][0-9]-[0-3][0-9] by scripts/", head)
    assert "Copyright (c) 2019 Zachary Rice" in head
    assert "Permission is hereby granted" in head


@pytest.mark.parametrize("pattern", FORMS, ids=lambda pattern: pattern.pattern[:30])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(data=st.data())
def test_what_a_plug_in_of_detect_secrets_finds_is_hidden(pattern: re.Pattern[str], data: st.DataObject) -> None:
    token = data.draw(st.from_regex(re.compile(pattern.pattern, re.ASCII), fullmatch=True))
    text = f"use {token} now"
    hidden = set()
    for span in find(text):
        hidden |= set(range(span.start, span.end))
    tail = range(text.index(token) + len(token) - 8, text.index(token) + len(token))
    assert hidden >= set(tail), text


def test_underscores_in_a_token_of_github_are_hidden_to_the_last() -> None:
    token = "gh" + "o_" + "0" * 35 + "_"
    hidden = {at for span in find(f"use {token} now") for at in range(span.start, span.end)}
    assert hidden >= set(range(4, 4 + len(token)))


@pytest.mark.parametrize("token", [
    "pa" + "t.z1fwMKwnI0vvFxB00fTalB.5ee3c4b2ebe909898da2e6e0.gAwoGqaYx1Kd0pWm3RtZ",
    "AP" + "I-CXUHQIE2PLIWRWO0PLRO6U3ADE", "sq" + "p_12ef058df7cfbcf53da4a3b49f4ebf1b6299ad90",
    "pa" + "twof39iEJtNDHsG." + "3c263278a655346aa725c07891beba9a" * 2,
])  # fmt: skip
def test_tokens_of_forms_that_no_plug_in_has(token: str) -> None:
    assert {(span.start, span.end) for span in find_tokens(f"use {token} now")} == {(4, 4 + len(token))}


@pytest.mark.parametrize("text", [
    discord.DiscordBotTokenDetector.secret_type, jwt.JwtTokenDetector.secret_type,
    telegram_token.TelegramBotTokenDetector.secret_type, "x" + "ghp_16C7e42F292c6912" + "E7710c838347Ae178B4a",
    "sk-learn-contrib-some-long-name", "hooks.slack.com/services/",
])  # fmt: skip
def test_what_is_no_token_of_a_form(text: str) -> None:
    assert find_tokens(text) == []
