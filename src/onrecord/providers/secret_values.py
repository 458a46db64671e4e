"""DOES this value look like a secret, or is it an ordinary word, a reference, a piece of code?

Every check gets the value with its surroundings, which reveal as much as the value itself.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

# Words that follow "the password is ..." without being one. Lower case; inflected forms are caught by _INFLECTED.
ORDINARY_WORDS = frozenset(
    """
    a about above absent access account active after again algorithm all alphanumeric already also always an and
    another any anybody anyone anything anyway api are as ask at auth automatic available away back bad banned basic be
    because been before being below best better between blank bool boolean both broken but by byte bytes can cannot
    case char check clean clear cleartext client cloud code column comes common compromised confidential config console
    correct could crap current custom data database db dead default defunct dev different difficult digest disabled do
    docs document does done down due dynamic each easy either else email empty enabled encoded encrypted enough enter
    entry env error even every everyone exact exactly except expiry external fail false field file fine first fixed
    float for foreign forgotten format found free from full function gave general generated get given global go goes
    gone good google got gpg great group guessable had half handled hard hardcoded has hash have he header held hello
    help her here hers hex hidden him his history hold host how human id identical if ignored image in inactive
    incorrect index info init input insecure inside int integer internal into invalid irrelevant is it its itself job
    just keep kept key keychain keyring known lambda laptop last later leaked least left length less level like line
    link list literal local locked log login long longer look lost lower lowercase made mail main maintained make
    manager mandatory many masked match may maybe me method mfa mine minimum missing module month more most much must
    my name necessary need needed never new newline next nil no nobody none nope not note nothing now null number
    numeric obsolete of off offline ok okay old on once one online only onto open option optional or origin original
    other our ours out outdated over own owner page parameter parsed part passed path pending per perfect permanent
    person personal phone plain plaintext please plus policy pool possible present private problem prod production
    prompt property protected provider public put question quite quote random rather raw read readonly ready real
    really reason request required reset resolved rest result return right role rotated row rule safe salt same
    saved scope screen script secret secure secured see seen self sent separate server service session set setting
    several shared she short should show shown similar simple since single slack slow so some somebody someone
    something sometimes somewhere soon source special split stale standard state static still stop storage store
    stored str strict string strong struct such sufficient support sure system table taken takes team tell temporary
    terrible test testing text than that the their theirs them themselves then there these they thing this those
    through time title to today tomorrow too top total true twice type typed ugly unavailable unchanged unclear
    undefined under underway unencrypted unfortunately unique unknown unlike unsafe unset until untouched up updated
    upon upper uppercase us usable used useful user username usual valid value var variable various vault version very
    via view visible void vulnerable want was way we weak web week well were what whatever when where whether which
    while who whoever whom whose why wiki will with within without word words working worse worthless would wrong year
    yes yesterday yet you your yours zero
    args app application array bearer bigint blob byref const context dict final hash int32 int64 jsonb kwargs let
    object options payload props query record response secretstr settings super symbol tls token tokens uint uri url
    uuid varchar varchar2 nvarchar nvarchar2 yaml json xml toml
    keyvault bitwarden lastpass keepass keepassxc keeper dashlane 1password 1pass okta doppler sops aws azure gcp kms
    argon2 argon2i argon2id bcrypt scrypt pbkdf2 sha1 sha2 sha256 sha512 sha3 md5 ntlm ntlmv2 kerberos base32 base64
    oauth oauth2 oidc saml saml2 ldap ldap3 2fa totp x509 aes128 aes256 rs256 hs256 es256 ps256 utf8 ipv4 ipv6 s3 ec2
    k8s v1 v2 v3 v4 http2 p12 pkcs12 pkcs8 web3 i18n win32 zip64
    siehe falsch leer abgelaufen sicher notwendig unbekannt voir requis vide ver vacia cofre tresor bloqueada
    """.split()
)
_INFLECTED = re.compile(r"[a-z]+(?:ed|ing|able|ible|ly|ive|ary|ory|less|ful|ous|ent|ten|wn|ness|tion)\Z")

# What stands for a secret kept elsewhere; true of quoted values too.
_REFERENCE = re.compile(
    r"""
    \$\w*\Z | \$\w*[{(] | %\w+\( | \$\$\w | \{\{? [^{}]* \}{0,2}\Z | \{\{ | \{% | %\w+%\Z | %[sdrv](?:\W|\Z) | %\(\w+\)s
    | [:@&*][A-Za-z_]+\Z | \w+![rsa]\Z | \[ | < | \.{2,} | ~/ | [A-Za-z]:\\
    | !(?:vault|secret|ref|sub|env|getatt|include|join|fn) | [\w+.-]+://
    | (?:enc|arn|vault|op|ssm|kms|env|file|secret|projects?|sha\d+|md5|urn)[:\[] | sha(?:256|384|512)-
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What is code when it is not in quotes.
_CODE = re.compile(
    r"""
    (?://|/\*|--) | [A-Za-z_]\w*(?:(?:\.|->|::)\w+)*[(\[] | [A-Za-z_]+\d{0,3}(?:(?:\.|->|::)[A-Za-z_]+\d{0,3})+\Z
    | (?:self|this|process|os|config|settings|args|request|req|env|ctx|app|data|user|form|props|params|opts|options
       |secrets|var|local|module|each|values|state|response|res|event|cfg|conf|input|output|session)(?:\.|->|::)\w
    | [a-z]+(?:_[a-z]+){1,2}\Z
    """,
    re.VERBOSE,
)
_MASK = re.compile(r"[*xX.•·●…#?_\-=0]{3,}\Z|(.)\1{3,}\Z")
_KEY_MATERIAL = re.compile(r"(?=[A-Za-z]{0,60}[0-9+/])[A-Za-z0-9+/]{16}")
_JUDGED_CHARACTERS = 256
_LONGEST_STAND_IN = 100
_MASKED_RUN = re.compile(r"([xX*.0])\1{7,}")
_STAND_IN = re.compile(r"^your|x{4,}|\*\*\*|\.\.\.|…|\{\w[^{}]*\}", re.IGNORECASE)
# These words say "put yours here" unless digits make the value look chosen.
_STAND_IN_WORD = re.compile(
    r"^(?:the|some|an?|my)[-_ ](?=[a-z_ -]*\Z)|example|placeholder|change[-_ ]?(?:me|it|this|in)|redact|dummy"
    r"|insert|replace|todo\b|fixme|foobar|fill[-_]|here\Z",
    re.IGNORECASE,
)
_KEY_WORD = re.compile(
    r"(?:password|passwort|passwd|passphrase|passcode|secret|token|api_?key|credentials?|creds|auth)s?\Z",
    re.IGNORECASE,
)
_SHORT_KEY_WORDS = frozenset("pass pw pwd key keys psk pin".split())
_PARTS = re.compile(r"[-_.:/@ ]+|(?<=[a-z])(?=[A-Z])")
_ORDINARY_SHAPE = re.compile(
    r"""
    \d{1,4}(?:[./:-]\d{1,4}){1,3}(?:T[\d:.+Z-]+)?\Z                          # dates, times, versions, ranges
    | v?\d+(?:\.\d+)+\Z | [<>=~^]=?\d
    | \d+(?:[.,]\d+)*(?:%|\+|st|nd|rd|th|x|k|m|g|s|h|d|w|y|ms|[kmgt]i?b|mins?|hrs?|hours?|days?|weeks?|months?|years?
        |chars?|bits?|bytes?|times|-?(?:bit|char|character|digit|day|hour|minute|month|week|year)s?(?:-\w+)?)\Z
    | [A-Z]{2,10}-\d{1,6}\Z | (?:sha|aes|utf|tls)-?\d+(?:\.\d)?\Z                # issue keys, algorithms
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z]*(?:[A-Z]+[a-z]{2,})+[A-Z]*\Z")
# A name of code with a number or two in it: S3SigV4Auth, symbol2label, factorial2.
_NUMBERED_NAME = re.compile(
    r"(?=.{1,16}\Z)(?=\D*(?:\d\D*){1,2}\Z)[a-z]*(?:[A-Z]{1,4}[a-z]{2,}|[A-Z]{1,2}\d{1,2}|\d{1,2}[a-z]{2,}|\d{1,2})*\Z"
)
_SLUG_GLUE, _TRAILING_NUMBER = re.compile(r"[-_.:/]+"), re.compile(r"(?<=[a-z])\d{1,2}\Z")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_SYMBOL = re.compile(r"[^\w\-./'’:,()]")  # one that does not occur in ordinary words
_MACHINE_MADE = re.compile(r"[A-Za-z0-9+/=_.~%:@!#$^&*?-]+\Z")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_OPENING_QUOTES = frozenset("\"'`“„«「『‹‘”")
_ENDS = re.compile(
    r"[\"'`*)\]]{0,3}[ \t]{0,4}(?:\Z|[\r\n.,;!?()\]}|&<。、，；！？）」]|\\n|--? |#|//|[-–—] )"
)
_UNITS = (" days", " characters", " chars", " digits", " times", " letters", " words", " bits", " bytes")


@dataclass(frozen=True, slots=True)
class SecretCandidate:
    """A stretch of text that may be a secret, with its surroundings."""

    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """The part that is judged: the beginning is enough for a long one."""
        return self.text[self.start : min(self.end, self.start + _JUDGED_CHARACTERS)]

    @property
    def is_quoted(self) -> bool:
        return self.start > 0 and self.text[self.start - 1] in _OPENING_QUOTES

    @property
    def ends_sentence(self) -> bool:
        """Nothing follows that would make it one word among others."""
        return bool(_ENDS.match(self.text, self.end))

    @property
    def is_tight(self) -> bool:
        """`key=value` without spaces, as only machines and shells write it."""
        return self.start > 1 and self.text[self.start - 1] == "=" and not self.text[self.start - 2].isspace()

    @property
    def follows_tight_colon(self) -> bool:
        return self.start > 0 and self.text[self.start - 1] == ":"

    @property
    def has_unit(self) -> bool:
        return self.text[self.end - 1].isdigit() and self.text.startswith(_UNITS, self.end)


Judge = Callable[[SecretCandidate], bool]


# ---- what a value is -------------------------------------------------------------------------------------
def is_stand_in(value: str, quoted: bool = False) -> bool:
    """A mask, a placeholder, a reference to the secret elsewhere or the name of one: nothing to hide."""
    if _MASK.match(value) or _REFERENCE.match(value) or _is_name_of_secret(value):
        return True
    if len(value) <= _LONGEST_STAND_IN and _says_put_yours_here(value):
        return True
    return _is_path(value) or (not quoted and bool(_CODE.match(value)))


def _says_put_yours_here(value: str) -> bool:
    return bool(_STAND_IN.search(value) or (not _DIGIT.search(value) and _STAND_IN_WORD.search(value)))


def _is_name_of_secret(value: str) -> bool:
    """`db_password`, `accessToken`, `MY-SECRET`."""
    if not value.replace("_", "").replace("-", "").replace(".", "").isalpha():
        return False
    parts = [part.lower() for part in _PARTS.split(value) if part]
    return any(part in _SHORT_KEY_WORDS or _KEY_WORD.search(part) for part in parts)


def _is_path(value: str) -> bool:
    """`/run/secrets/db`: slashes between segments none of which looks machine-made, as in base64."""
    segments = [s for s in value.lstrip("~.").split("/") if s]
    return "/" in value and all(_is_wordy(s, numbered=True) or _is_slug(s) for s in segments)


def _is_ordinary(value: str) -> bool:
    word = value.lower().rstrip("!?.")
    if word in ORDINARY_WORDS or word.removesuffix("s") in ORDINARY_WORDS:
        return True
    return bool(_INFLECTED.match(word) or _ORDINARY_SHAPE.match(value))


def _is_slug(value: str) -> bool:
    """Words and numbers glued together, such as `order-2024-11-03` or `text-embedding-3-small`."""
    parts = [part for part in _SLUG_GLUE.split(value[:_LONGEST_STAND_IN]) if part]
    numbered = len(parts) > 2  # then pop3 and zip64 count as words
    return len(parts) > 1 and all(_is_wordy(part, numbered) for part in parts)


def _is_wordy(part: str, numbered: bool) -> bool:
    if len(part) <= 3 or part.isdigit():
        return True
    word = _TRAILING_NUMBER.sub("", part) if numbered else part
    return word.isalpha() and not _is_scrambled(word)


def _is_scrambled(letters: str) -> bool:
    """Letters whose cases mix as in no word and no CamelCase name."""
    if len(letters) < 12 or letters.islower() or letters.isupper():
        return False
    return not _CAMEL.match(letters)


def _has_mixture(value: str) -> bool:
    """Letters and digits together, or either with a symbol that does not occur in ordinary words."""
    value = value.rstrip("!?")  # as in "wrong!"
    letter, digit = _LETTER.search(value), _DIGIT.search(value)
    return bool((letter and digit) or (_SYMBOL.search(value) and (letter or digit)))


def _is_passphrase(value: str) -> bool:
    """Three or more uncommon words in a row: `correct horse battery staple`. One of four may be common."""
    words = re.split(r"[-_ ]", value)
    if not 3 <= len(words) <= 10 or not all(w.isalpha() and len(w) > 2 for w in words):
        return False
    return sum(_is_ordinary(w) for w in words) <= len(words) // 4


def _is_hyphenated_passphrase(value: str) -> bool:
    return value.count("-") >= 3 and _is_passphrase(value)


def _is_noise(value: str) -> bool:
    """Long, with all kinds of characters and hardly a space, as generated salts are."""
    if len(value) < 32 or value.count(" ") * 8 > len(value) or _REFERENCE.match(value):
        return False
    kinds = (str.isupper, str.islower, str.isdigit, lambda c: not c.isalnum() and not c.isspace())
    return all(sum(map(kind, value)) >= 4 for kind in kinds) and not re.search(
        r"[a-z]{6}|[{(<]\w+[})>]", value
    )


def _is_uncommon_word(value: str) -> bool:
    letters = value.rstrip("!?")
    return letters.isascii() and letters.isalpha() and len(letters) >= 4 and not _is_ordinary(letters)


# ---- judges of tokens and keys ---------------------------------------------------------------------------
def is_anything(candidate: SecretCandidate) -> bool:
    """Accept everything: the pattern is proof enough."""
    return candidate.end > candidate.start


def is_varied(candidate: SecretCandidate) -> bool:
    """For a token with a characteristic prefix: not just a row of x."""
    value = candidate.value
    return len(set(value)) >= 5 and not _MASKED_RUN.search(value)


def has_key_material(candidate: SecretCandidate) -> bool:
    """There are more than a few words between BEGIN and END."""
    return bool(_KEY_MATERIAL.search(candidate.text, candidate.start, candidate.end))


def is_opaque(candidate: SecretCandidate, shortest: int = 8) -> bool:
    """Machine-made: letters and digits mixed beyond what names, versions and slugs do."""
    value = candidate.value
    if candidate.is_quoted and _is_noise(value):
        return True
    if len(value) < shortest or len(set(value)) < 5 or not _MACHINE_MADE.match(value):
        return False
    if is_stand_in(value, candidate.is_quoted):
        return False
    if _UUID.match(value):
        return True
    if _is_ordinary(value) or _is_slug(value) or _NUMBERED_NAME.match(value):
        return False
    if _DIGIT.search(value):
        return bool(_LETTER.search(value))
    letters = re.sub(r"[-_+/=.]", "", value)
    return _is_scrambled(letters) or (len(value) >= 24 and value.isalpha() and value.islower())


def is_token(candidate: SecretCandidate) -> bool:
    """For prose: longer than what an assignment needs, because words and numbers follow "token" all the time."""
    return is_opaque(candidate, 10)


def is_long_opaque(candidate: SecretCandidate) -> bool:
    return is_opaque(candidate, 16)


def is_login_token(candidate: SecretCandidate) -> bool:
    """After `login` a UUID is more often a user than a token."""
    return is_opaque(candidate, 16) and not _UUID.match(candidate.value)


def is_header_value(candidate: SecretCandidate) -> bool:
    """After `Authorization:` a short value counts as well."""
    value = candidate.value
    if len(value) < 6 or is_stand_in(value) or _is_ordinary(value) or _is_slug(value):
        return False
    return _has_mixture(value) or is_opaque(candidate)


def is_basic_login(candidate: SecretCandidate) -> bool:
    """Base64 of `user:password`."""
    value = candidate.value
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


# ---- judges of passwords ---------------------------------------------------------------------------------
def is_strict_mixture(candidate: SecretCandidate) -> bool:
    """A password where the surroundings are weak evidence: clearly mixed, or four words joined by hyphens."""
    value = candidate.value
    if len(value) < 5 or is_stand_in(value, candidate.is_quoted) or _is_ordinary(value):
        return False
    if _is_slug(value):
        return _is_hyphenated_passphrase(value)
    return _has_mixture(value) and (len(value) >= 8 or bool(_DIGIT.search(value)))


def is_strong_password(candidate: SecretCandidate) -> bool:
    """Three kinds of characters: for places where nothing says "password"."""
    value = candidate.value
    kinds = (_DIGIT.search(value), _SYMBOL.search(value), value != value.lower(), value != value.upper())
    return len(value) >= 8 and sum(map(bool, kinds)) >= 3 and is_strict_mixture(candidate)


def is_password_assigned(candidate: SecretCandidate) -> bool:
    """`password=...`, `"password": "..."`: nearly anything that is no reference, no code and no common word."""
    value, quoted = candidate.value, candidate.is_quoted
    if len(value) < 3 or is_stand_in(value, quoted) or _is_ordinary(value):
        return False
    if " " in value:
        return quoted and _is_passphrase(value)
    if quoted or _is_hyphenated_passphrase(value):
        return True
    closed = candidate.ends_sentence or candidate.is_tight
    if value.isdigit():
        return len(value) >= 4 and closed
    if _has_mixture(value):
        return True
    return (
        closed and not candidate.follows_tight_colon and (_is_uncommon_word(value) or _is_passphrase(value))
    )


def is_password_in_prose(candidate: SecretCandidate) -> bool:
    """`the password is ...`: mixed characters, a quoted string, or one uncommon word that ends the sentence."""
    value, quoted = candidate.value, candidate.is_quoted
    if len(value) < 4 or is_stand_in(value, quoted) or _is_ordinary(value):
        return False
    if " " in value:
        return quoted and _is_passphrase(value)
    if quoted or _is_hyphenated_passphrase(value) or (_has_mixture(value) and not candidate.has_unit):
        return True
    return candidate.ends_sentence and (value.isdigit() or _is_uncommon_word(value) or _is_passphrase(value))


def is_password_next_to_key(candidate: SecretCandidate) -> bool:
    """`password hunter2` with nothing in between."""
    value = candidate.value
    if candidate.is_quoted:
        return is_password_in_prose(candidate)
    if value.isdigit():
        return len(value) >= 4 and candidate.ends_sentence
    return is_strict_mixture(candidate)


def is_mixed_or_quoted(candidate: SecretCandidate) -> bool:
    """For languages whose common words are not listed here."""
    value = candidate.value
    if value.isdigit():
        return len(value) >= 4
    if candidate.is_quoted and value.isascii() and " " not in value:
        return len(value) >= 4 and not is_stand_in(value, quoted=True) and not _is_ordinary(value)
    return is_strict_mixture(candidate)


def is_url_password(candidate: SecretCandidate) -> bool:
    """The value between `user:` and `@` is a password unless it is a placeholder."""
    return len(candidate.value) >= 3 and not is_stand_in(candidate.value, candidate.is_quoted)


def is_password_option(candidate: SecretCandidate) -> bool:
    """`--password ...`: a shell word, so even a plain one counts."""
    return is_url_password(candidate) and not _is_ordinary(candidate.value)


def is_login_password(candidate: SecretCandidate) -> bool:
    """`-u user:...`, `-p...`: not the group of `-u 1000:1000` and not a port."""
    return not candidate.value.isdigit() and is_password_option(candidate)
