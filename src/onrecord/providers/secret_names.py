"""IS this the name of a credential? For metadata, where the key says what the value is."""

from __future__ import annotations

import re

from onrecord.providers.secret_values import Judge, SecretCandidate, is_opaque, is_strict_mixture

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_PASSWORDS = frozenset(
    """
    password passwords passwd passphrase passcode pwd pw psk passwort kennwort contraseña contrasena senha wachtwoord
    hasło heslo lösenord salasana şifre пароль 密码 密碼 パスワード 비밀번호 암호 סיסמה पासवर्ड
    """.split()
)
_CREDENTIALS = frozenset("credential credentials cred creds".split())
# A name may say after the credential which one it is.
_QUALIFIERS = frozenset(
    "prod production dev stage staging test live old new current value primary secondary base".split()
)
# Names that speak of a credential instead of holding one: is_secret, has_password.
_QUESTIONS = frozenset(
    "is has use uses no needs allow allows require requires enable show hide forgot reset".split()
)
_KEY_OWNERS = frozenset(
    """
    api access secret private auth encryption signing master shared preshared subscription license licence deploy
    consumer webhook sharedaccess application admin root ssh
    """.split()
)
# Surrogate keys and storage paths bear these names too, so the value has to look the part.
_POSSIBLE_KEY_OWNERS = frozenset(
    "account app client service session server storage user project function".split()
)
_TOKEN_OWNERS = frozenset("access auth refresh api bearer bot secret session csrf id".split())
_HARMLESS_TOKENS = frozenset(
    "pad eos bos unk mask sep cls next page continuation sync stop special first last per".split()
)
_GLUED = re.compile(
    r"(?:(?P<password>password|passwd|passphrase|passcode)s?|(?P<secret>secret)s?"
    r"|(?P<key>(?:api|access|secret|private|auth|encryption|signing|master)key)s?"
    r"|(?P<token>(?:access|auth|refresh|api|bearer|bot|session)tokens?))\Z"
)
_GLUED_KINDS = {"password": "password", "secret": "secret", "key": "api-key", "token": "token"}


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _WORDS.findall(name[:256])]
    while len(words) > 1 and words[-1] in _QUALIFIERS:
        words.pop()
    return words


def secret_kind(name: str) -> str | None:
    """The rule for values under this name, if it is the name of a credential."""
    words = _words(name)
    if not words or words[0] in _QUESTIONS:
        return None
    last, owner = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or (last == "pass" and owner):
        return "password"
    if last in _CREDENTIALS:
        return "credential"
    if last in ("authorization", "bearer"):
        return "authorization"
    if last in ("token", "jwt"):
        return None if owner in _HARMLESS_TOKENS else "token"
    if last == "tokens":
        return "token" if owner in _TOKEN_OWNERS else None
    if last in ("key", "keys"):
        return _key_kind(owner)
    glued = _GLUED.search(last)
    return _GLUED_KINDS[glued.lastgroup] if glued and glued.lastgroup else None


def _key_kind(owner: str) -> str | None:
    if owner == "private":
        return "private-key"
    return "api-key" if owner in _KEY_OWNERS else None


def possible_kind(name: str) -> tuple[str, Judge] | None:
    """For names that may or may not be a credential's: the rule, and how to decide by the value."""
    words = _words(name)
    if words == ["pass"]:
        return "password", is_strict_mixture
    if words and (
        words[-1] == "auth" or (words[-1] == "key" and words[:-1] and words[-2] in _POSSIBLE_KEY_OWNERS)
    ):
        return "api-key", is_opaque
    return None


def kind_of(name: str, value: str) -> str | None:
    """The rule for this text under this name, or None where only the text itself can decide."""
    certain = secret_kind(name)
    if certain:
        return certain
    possible = possible_kind(name)
    return possible[0] if possible and possible[1](SecretCandidate(value, 0, len(value))) else None
