"""HOW WELL does the scrubber find secrets, and how often does it cry wolf?

Run `python evals/scrubbing.py` for a report, `--json` for numbers only, `--seed N` for other random secrets.
Every secret is built at run time from pieces and a seeded generator; no secret-looking literal is stored here.

How honest is it? The cases were written in four rounds, from the ways people paste credentials into notes: the
first before there were rules, the others before the rules had seen them. The first run of each, before any rule was
changed for it, is the figure to trust:

    round 1   1446 of 1534 found (94.3 %)   2 false alarms in 614 notes
    round 2    309 of  388 found (79.6 %)   2 false alarms in 215 notes   odd forms on purpose
    round 3    246 of  268 found (91.8 %)   1 false alarm  in 168 notes
    round 4    219 of  232 found (94.4 %)   0 false alarms in 110 notes

Rounds 2 to 4 hold only secrets known by their surroundings, the hard half. Rounds 1 to 3 are the "tuned" figures
below, round 4 is "held-out"; the rules have learned from its misses since, so its figure today flatters them.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import string
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from onrecord.providers.scrubber import scrub

PLACEHOLDER = re.compile(r"\[secret:[a-z-]+\]")
LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX = string.ascii_letters + DIGITS, DIGITS + "abcdef"
URLSAFE, BASE64, BASE32 = ALNUM + "-_", ALNUM + "+/", UPPER + "234567"

Maker = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Case:
    """One text holding one secret."""

    category: str
    before: str
    secret: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def pick(alphabet: str, count: int) -> Maker:
    return lambda r: "".join(r.choices(alphabet, k=count))


def tag(prefix: str, alphabet: str, count: int, suffix: str = "") -> Maker:
    return lambda r: prefix + "".join(r.choices(alphabet, k=count)) + suffix


def join(glue: str, *makers: Maker) -> Maker:
    return lambda r: glue.join(make(r) for make in makers)


def fixed(value: str) -> Maker:
    return lambda r: value


def uuid(r: random.Random) -> str:
    return "-".join("".join(r.choices(HEX, k=n)) for n in (8, 4, 4, 4, 12))


def b64url(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(r: random.Random) -> str:
    head = b64url({"alg": r.choice(["HS256", "RS256", "none"]), "typ": "JWT"})
    body = b64url({"sub": str(r.randrange(10**9)), "name": "A. User", "iat": r.randrange(10**9, 2 * 10**9)})
    return f"{head}.{body}.{pick(URLSAFE, 43)(r)}"


def discord(r: random.Random) -> str:
    ident = base64.b64encode(str(r.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{ident}.G{pick(URLSAFE, 5)(r)}.{pick(URLSAFE, 38)(r)}"


def basic(r: random.Random) -> str:
    return base64.b64encode(f"svc-{pick(LOWER, 5)(r)}:{strong(r)}".encode()).decode()


def pem(label: str, newline: str = "\n", end: bool = True, lines: int = 8) -> Maker:
    def make(r: random.Random) -> str:
        body = newline.join(["MII" + pick(BASE64, 61)(r)] + [pick(BASE64, 64)(r) for _ in range(lines - 1)])
        head = "-----BEGIN " + label + "-----" + newline + body
        return head + (
            newline + pick(BASE64, 22)(r) + "==" + newline + "-----END " + label + "-----" if end else ""
        )

    return make


# ---- passwords as people choose them -------------------------------------------------------------------
NAMES = ("hunter", "summer", "Berlin", "dragon", "Welcome", "coffee", "Eagles", "winter", "Monkey", "sesame")
PLAIN = (
    "swordfish",
    "letmein",
    "opensesame",
    "rosebud",
    "trustno",
    "correcthorse",
    "bananarama",
    "xyzzyplugh",
)


def weak(r: random.Random) -> str:
    return r.choice(NAMES) + str(r.randrange(1, 9999))


def leet(r: random.Random) -> str:
    word = r.choice(NAMES).replace("e", "3").replace("o", "0").replace("a", "@")
    return word.capitalize() + r.choice("!#$%&*?+") + str(r.randrange(10, 99))


def strong(r: random.Random) -> str:
    return pick(ALNUM, 8)(r) + r.choice("!#%^*-_+=") + pick(ALNUM, 6)(r) + str(r.randrange(10))


def symbols(r: random.Random) -> str:
    return (
        r.choice(string.ascii_letters)
        + pick(ALNUM + "!@#$%^*-_+=?~", 14)(r)
        + str(r.randrange(10))
        + r.choice("!#*")
    )


def phrase(r: random.Random) -> str:
    return "-".join(
        r.sample(["correct", "horse", "battery", "staple", "orbit", "velvet", "tundra", "anchor"], 4)
    )


def plain(r: random.Random) -> str:
    return r.choice(PLAIN)


def password(r: random.Random) -> str:
    return r.choices((weak, leet, strong, symbols, phrase, plain), weights=(4, 4, 4, 4, 1, 2))[0](r)


def mixed(r: random.Random) -> str:
    return r.choice((weak, leet, strong))(r)


def urlpass(r: random.Random) -> str:
    return r.choice((weak, strong, pick(URLSAFE, 20), lambda r: "p%40ss" + pick(ALNUM, 6)(r)))(r)


HEX32, HEX40, HEX64 = pick(HEX, 32), pick(HEX, 40), pick(HEX, 64)


def opaque(r: random.Random) -> str:
    return r.choice((pick(ALNUM, 24), pick(URLSAFE, 43), HEX32, HEX40, HEX64, pick(ALNUM, 16)))(r) + "4"


# ---- secrets that name themselves ----------------------------------------------------------------------
SHAPES: tuple[tuple[str, Maker], ...] = (
    ("aws-key-id", tag("AK" + "IA", BASE32, 16)),
    ("aws-key-id", tag("AS" + "IA", BASE32, 16)),
    ("gcp-api-key", tag("AI" + "zaSy", URLSAFE, 33)),
    ("google-oauth", tag("GOC" + "SPX-", URLSAFE, 28)),
    ("google-oauth", tag("ya" + "29.a0A", URLSAFE, 160)),
    ("google-oauth", tag("1/" + "/0g", URLSAFE, 60)),
    ("github", tag("gh" + "p_", ALNUM, 36)),
    ("github", tag("gh" + "o_", ALNUM, 36)),
    ("github", tag("gh" + "u_", ALNUM, 36)),
    ("github", tag("gh" + "s_", ALNUM, 36)),
    ("github", tag("gh" + "r_", ALNUM, 76)),
    ("github", join("_", tag("github_" + "pat_", ALNUM, 22), pick(ALNUM, 59))),
    ("gitlab", tag("gl" + "pat-", URLSAFE, 20)),
    ("gitlab", tag("gl" + "pat-", URLSAFE, 27, ".01.0w1abc2de")),
    ("gitlab", tag("gl" + "dt-", URLSAFE, 20)),
    ("gitlab", tag("gl" + "rt-", URLSAFE, 20)),
    ("gitlab", tag("gl" + "ptt-", HEX, 40)),
    ("gitlab", tag("gl" + "cbt-", URLSAFE, 22)),
    ("gitlab", tag("GR" + "1348941", URLSAFE, 20)),
    ("bitbucket", tag("AT" + "BB", ALNUM, 32)),
    ("bitbucket", tag("AT" + "CTT3xFfGN0", URLSAFE, 160)),
    ("atlassian", tag("AT" + "ATT3xFfGF0", URLSAFE, 170, "=1A2B3C4D")),
    ("slack", join("-", fixed("xo" + "xb"), pick(DIGITS, 12), pick(DIGITS, 13), pick(ALNUM, 24))),
    ("slack", join("-", fixed("xo" + "xp"), pick(DIGITS, 12), pick(DIGITS, 12), pick(DIGITS, 12), HEX32)),
    ("slack", join("-", fixed("xo" + "xa-2"), pick(DIGITS, 12), pick(ALNUM, 40))),
    ("slack", join("-", fixed("xo" + "xr"), pick(DIGITS, 12), pick(ALNUM, 30))),
    ("slack", join("-", fixed("xo" + "xe.xo" + "xp-1"), pick(ALNUM, 140))),
    ("slack", join("-", fixed("xa" + "pp-1"), tag("A0", UPPER, 9), pick(DIGITS, 13), HEX64)),
    ("discord", discord),
    ("telegram", join(":", pick("123456789", 10), tag("AA", URLSAFE, 33))),
    ("openai", lambda r: "s" + "k-" + pick(ALNUM, 20)(r) + "T3Blbk" + "FJ" + pick(ALNUM, 20)(r)),
    ("openai", join("T3Blbk" + "FJ", tag("s" + "k-proj-", URLSAFE, 74), pick(URLSAFE, 74))),
    ("openai", tag("s" + "k-svcacct-", URLSAFE, 100)),
    ("openai", tag("s" + "k-", ALNUM, 48)),
    ("anthropic", tag("s" + "k-ant-api03-", URLSAFE, 93, "AA")),
    ("anthropic", tag("s" + "k-ant-oat01-", URLSAFE, 93, "AA")),
    ("openrouter", tag("s" + "k-or-v1-", HEX, 64)),
    ("deepseek", tag("s" + "k-", HEX, 32)),
    ("generic-sk", tag("s" + "k-", ALNUM, 20)),
    ("generic-rk", tag("r" + "k-", ALNUM, 24)),
    ("own-api-key", tag("r" + "k_", URLSAFE, 40)),
    ("huggingface", tag("h" + "f_", string.ascii_letters, 34)),
    ("replicate", tag("r" + "8_", ALNUM, 37)),
    ("groq", tag("gs" + "k_", ALNUM, 52)),
    ("xai", tag("x" + "ai-", ALNUM, 80)),
    ("perplexity", tag("pp" + "lx-", ALNUM, 48)),
    ("nvidia", tag("nv" + "api-", URLSAFE, 64)),
    ("langsmith", join("_", tag("ls" + "v2_pt_", HEX, 32), pick(HEX, 10))),
    ("pinecone", join("_", tag("pc" + "sk_", ALNUM, 5), pick(ALNUM, 62))),
    ("stripe", tag("s" + "k_live_", ALNUM, 24)),
    ("stripe", tag("s" + "k_test_51", ALNUM, 97)),
    ("stripe", tag("r" + "k_live_", ALNUM, 24)),
    ("stripe", tag("wh" + "sec_", ALNUM, 32)),
    ("twilio", tag("S" + "K", HEX, 32)),
    ("sendgrid", join(".", fixed("S" + "G"), pick(URLSAFE, 22), pick(URLSAFE, 43))),
    ("mailgun", tag("ke" + "y-", HEX, 32)),
    ("mailchimp", tag("", HEX, 32, "-us" + "12")),
    ("brevo", join("-", tag("xkey" + "sib-", HEX, 64), pick(ALNUM, 16))),
    ("resend", join("_", tag("r" + "e_", ALNUM, 8), pick(ALNUM, 24))),
    ("npm", tag("np" + "m_", ALNUM, 36)),
    ("pypi", tag("py" + "pi-AgEIcHlwaS5vcmc", URLSAFE, 150)),
    ("crates", tag("ci" + "o", ALNUM, 32)),
    ("rubygems", tag("ruby" + "gems_", HEX, 48)),
    ("docker", tag("dckr" + "_pat_", URLSAFE, 27)),
    ("databricks", tag("da" + "pi", HEX, 32)),
    ("databricks", tag("da" + "pi", HEX, 32, "-2")),
    ("dbt", tag("db" + "tc_", URLSAFE, 36)),
    ("grafana", join("_", tag("gl" + "sa_", ALNUM, 32), pick(HEX, 8))),
    ("grafana", tag("gl" + "c_eyJ", ALNUM, 120)),
    ("newrelic", tag("NR" + "AK-", UPPER + DIGITS, 27)),
    ("newrelic", tag("", HEX, 36, "NR" + "AL")),
    ("sentry", tag("sntr" + "ys_eyJpYXQiOj", ALNUM, 120)),
    ("sentry", tag("sntr" + "yu_", HEX, 64)),
    ("vault", tag("hv" + "s.", URLSAFE, 92)),
    ("vault", tag("hv" + "b.", URLSAFE, 140)),
    ("doppler", tag("dp." + "pt.", ALNUM, 43)),
    ("doppler", tag("dp." + "st.prd.", ALNUM, 43)),
    ("linear", tag("lin" + "_api_", ALNUM, 40)),
    ("notion", tag("nt" + "n_", ALNUM, 46)),
    ("notion", tag("sec" + "ret_", ALNUM, 43)),
    ("figma", tag("fi" + "gd_", URLSAFE, 40)),
    ("airtable", join(".", tag("pa" + "t", ALNUM, 14), HEX64)),
    ("shopify", tag("sh" + "pat_", HEX, 32)),
    ("shopify", tag("sh" + "pss_", HEX, 32)),
    ("digitalocean", tag("do" + "p_v1_", HEX, 64)),
    ("digitalocean", tag("do" + "o_v1_", HEX, 64)),
    ("supabase", tag("sb" + "p_", HEX, 40)),
    ("supabase", tag("sb_" + "secret_", URLSAFE, 31)),
    ("planetscale", tag("psc" + "ale_tkn_", URLSAFE, 43)),
    ("planetscale", tag("psc" + "ale_pw_", URLSAFE, 43)),
    ("heroku", tag("HR" + "KU-AA", URLSAFE, 58)),
    ("age", tag("AGE-" + "SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    ("terraform", join(".", pick(ALNUM, 14), fixed("atlas" + "v1"), pick(ALNUM, 67))),
    ("pulumi", tag("pu" + "l-", HEX, 40)),
    ("postman", join("-", tag("PM" + "AK-", HEX, 24), pick(HEX, 34))),
    ("flyio", tag("fm" + "2_", BASE64, 140)),
    ("netlify", tag("nf" + "p_", ALNUM, 36)),
    ("tailscale", join("-", tag("ts" + "key-auth-", ALNUM, 12), pick(ALNUM, 32))),
    ("square", tag("sq0" + "csp-", URLSAFE, 43)),
    ("hubspot", lambda r: "pa" + "t-na1-" + uuid(r)),
    ("contentful", tag("CF" + "PAT-", URLSAFE, 43)),
    ("prefect", tag("pn" + "u_", ALNUM, 36)),
    ("dynatrace", join(".", fixed("dt0" + "c01"), pick(UPPER + DIGITS, 24), pick(UPPER + DIGITS, 64))),
    ("alibaba", tag("LT" + "AI", ALNUM, 20)),
    ("openshift", tag("sha256" + "~", URLSAFE, 43)),
    ("azure-ad", lambda r: pick(ALNUM, 3)(r) + "8" + "Q~" + pick(ALNUM + "_~.-", 34)(r)),
    ("sonar", tag("sq" + "u_", HEX, 40)),
    ("buildkite", tag("bk" + "ua_", HEX, 40)),
    ("onepassword", tag("op" + "s_eyJ", ALNUM, 300)),
    ("mapbox", join(".", tag("s" + "k.eyJ1", ALNUM, 60), pick(ALNUM, 22))),
    ("jwt", jwt),
    ("private-key", pem("RSA PRIVATE KEY")),
    ("private-key", pem("PRIVATE KEY")),
    ("private-key", pem("OPENSSH PRIVATE KEY", lines=5)),
    ("private-key", pem("EC PRIVATE KEY", lines=3)),
    ("private-key", pem("ENCRYPTED PRIVATE KEY")),
    ("private-key", pem("PGP PRIVATE KEY BLOCK")),
    ("private-key", pem("RSA PRIVATE KEY", newline="\\n")),
    ("private-key", pem("PRIVATE KEY", newline=" ")),
    ("private-key", pem("RSA PRIVATE KEY", end=False, lines=4)),
)

# Surroundings for those, by script. Most say nothing about what follows: a bare token must be found as well.
FRAMES: tuple[tuple[str, str], ...] = (
    ("latin", "{}"),
    ("latin", "For the nightly job we use {} until Friday."),
    ("latin", "old one: {}\nnew one comes tomorrow"),
    ("latin", 'he sent me "{}" over chat'),
    ("latin", "config has `{}` hard-coded, please fix"),
    ("latin", "ticket DATA-112 ({}) is still open"),
    ("latin", "staging → {}, prod → ask Ines"),
    ("latin", "[{}]"),
    ("latin", "<{}>"),
    ("latin", "- {}\n- rotate next sprint"),
    ("latin", "X={}; export X"),
    ("latin", "cat .env\nFOO={}\nBAR=1"),
    ("latin", '{{"a": "{}", "b": 2}}'),
    ("latin", "run: tool login {} --yes"),
    ("latin", "Wir nehmen {} für die Übertragung."),
    ("latin", "le script utilise {} à chaque nuit"),
    ("latin", "el proceso usa '{}' todavía"),
    ("latin", "ends with a newline {}\n"),
    ("latin", "a\tb\t{}\tc"),
    ("latin", "| prod | {} | ok |"),
    ("latin", "log line: header\\n{}\\nfooter"),
    ("cyrillic", "Для выгрузки берём {} до пятницы."),
    ("cyrillic", "вот он: {}, никому не показывай"),
    ("cyrillic", "старый «{}» уже не работает"),
    ("cyrillic", "ключ{}"),
    ("chinese", "部署时使用{}请勿外传"),
    ("chinese", "生产环境：{}。"),
    ("chinese", "他把「{}」发给我了"),
    ("chinese", "新的是{},旧的作废"),
    ("japanese", "本番では{}を使っています"),
    ("japanese", "鍵は「{}」です。"),
    ("japanese", "メモ：{}（金曜まで）"),
    ("korean", "운영에서는 {}를 씁니다"),
    ("korean", "새 값은 {}입니다."),
    ("korean", "메모:{}"),
    ("arabic", "نستخدم {} حتى يوم الجمعة"),
    ("arabic", "القيمة: {}، لا تشاركها"),
    ("hebrew", "אנחנו משתמשים ב-{} עד יום שישי"),
    ("hebrew", "הערך הוא {}."),
    ("devanagari", "हम रात के काम में {} चलाते हैं"),
    ("devanagari", "मान {}।"),
    ("devanagari", "यह{}है"),
)


# ---- secrets known by what stands around them ----------------------------------------------------------
def vendor(r: random.Random) -> str:
    """Shapes of vendors that SHAPES does not know."""
    makers: tuple[Maker, ...] = (
        join(":", tag("1/", DIGITS, 16), HEX32),
        join("_", tag("p" + "k_", DIGITS, 8), pick(UPPER + DIGITS, 32)),
        lambda r: "sd" + "k-" + uuid(r),
        join(".", fixed("1000"), HEX32, HEX32),
        join("-", fixed("v1" + ".0"), pick(HEX, 24), pick(HEX, 146)),
        tag("A" * 21, ALNUM, 85),
        join("_", tag("2", ALNUM, 26), pick(ALNUM, 21)),
        tag("0" + "0", URLSAFE, 40),
        tag("f" + "w_", ALNUM, 24),
        tag("s" + "k_", HEX, 48),
        lambda r: "s" + "k-lf-" + uuid(r),
        tag("https://mainnet.infura.io/v3/", HEX, 32),
        tag("tv" + "ly-", ALNUM, 32),
        tag("v" + "cp_", ALNUM, 48),
    )
    return r.choice(makers)(r)


MAKERS: dict[str, Maker] = {
    "password": password,
    "mixed": mixed,
    "urlpass": urlpass,
    "basic": basic,
    "uuid": uuid,
    "opaque": opaque,
    "at-password": tag("P@", ALNUM, 6, "9"),
    "base64-40": tag("", BASE64, 37, "a7Q"),
    "base64-44": tag("", BASE64, 43, "="),
    "base64-88": tag("", BASE64, 86, "=="),
    "sas-signature": join("%2B", pick(ALNUM, 20), tag("", ALNUM, 18, "%3D")),
    "session-token": tag("IQoJb3JpZ2luX2Vj", BASE64, 380, "="),
    "alnum-32": pick(ALNUM, 32),
    "hex-32": HEX32,
    "pin": pick("3456789", 4),
    "slack-path": join("/", tag("T", UPPER + DIGITS, 10), tag("B", UPPER + DIGITS, 10), pick(ALNUM, 24)),
    "discord-path": join("/", pick("123456789", 18), pick(URLSAFE, 68)),
    "teams-path": lambda r: f"{uuid(r)}@{uuid(r)}/IncomingWebhook/{HEX32(r)}/{uuid(r)}",
    "telegram": join(":", pick("123456789", 10), tag("AA", URLSAFE, 33)),
    "vendor": vendor,
}

# A heading names the category and the maker; ⟦⟧ is the secret's place; ⏎ and ¦ are explained at unfold().
CONTEXT = r"""
# connection-url urlpass
postgres://app:⟦⟧@db.internal:5432/main
DATABASE_URL=postgresql://svc_etl:⟦⟧@10.0.3.4/warehouse?sslmode=require
sqlalchemy.url = postgresql+psycopg2://airflow:⟦⟧@localhost/airflow
mysql://root:⟦⟧@127.0.0.1:3306/shop
mongodb+srv://reader:⟦⟧@cluster0.ab1cd.mongodb.net/?retryWrites=true
redis://:⟦⟧@cache:6379/0
rediss://default:⟦⟧@eu1-fit-1234.upstash.io:6379
amqp://guest:⟦⟧@rabbit:5672/vhost
clone with https://bob:⟦⟧@git.example.org/team/repo.git please
git remote set-url origin https://oauth2:⟦⟧@gitlab.com/a/b.git
ftp://deploy:⟦⟧@files.example.com/in
smtp://mailer%40example.com:⟦⟧@smtp.example.com:587
http_proxy=http://proxyuser:⟦⟧@proxy.corp:3128
подключение postgres://app:⟦⟧@db/main не менять
连接串是postgres://app:⟦⟧@db/main，不要泄露
接続先はmysql://app:⟦⟧@db/mainです
clickhouse://default:⟦⟧@ch.internal:9000/events
mssql+pyodbc://sa:⟦⟧@sqlserver/dw?driver=ODBC+Driver+18
snowflake://loader:⟦⟧@acme-eu1/RAW/PUBLIC?warehouse=LOAD_WH
`kafka` ui at http://admin:⟦⟧@kafka-ui:8080
# connection-raw-at at-password
postgres://app:⟦⟧@db.internal/main
mysql://u:⟦⟧@h:3306/x
# connection-keyword mixed
Server=tcp:sql1.database.windows.net,1433;Database=dw;User ID=loader;Password=⟦⟧;Encrypt=True;
Data Source=srv;Initial Catalog=crm;Uid=sa;Pwd=⟦⟧;
host=db port=5432 dbname=main user=app password=⟦⟧ sslmode=require
host=db dbname=main user=app password='⟦⟧'
jdbc:postgresql://db:5432/main?user=app&password=⟦⟧&ssl=true
jdbc:sqlserver://srv:1433;databaseName=dw;user=sa;password=⟦⟧;encrypt=true
jdbc:oracle:thin:scott/⟦⟧@//ora1:1521/ORCL
Driver={ODBC Driver 18 for SQL Server};Server=x;UID=etl;PWD={⟦⟧};Trusted_Connection=no
snowsql config: accountname = acme, username = loader, password = ⟦⟧
db:5432:main:app:⟦⟧ in ~/.pgpass
# azure base64-88
DefaultEndpointsProtocol=https;AccountName=lake01;AccountKey=⟦⟧;EndpointSuffix=core.windows.net
az storage blob list --account-name lake01 --account-key ⟦⟧
AZURE_STORAGE_KEY=⟦⟧
Storage account key for lake01: ⟦⟧
Der Speicherschlüssel: AccountKey=⟦⟧
# azure base64-44
Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦⟧
cosmos: AccountEndpoint=https://c.documents.azure.com:443/;AccountKey=⟦⟧;
# azure-sas sas-signature
https://lake01.blob.core.windows.net/raw/a.csv?sv=2022-11-02&se=2025-01-01&sr=b&sp=r&sig=⟦⟧
SAS: ?sv=2022-11-02&ss=b&srt=co&sp=rl&sig=⟦⟧&se=2026-01-01T00%3A00%3A00Z
https://prod-12.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers&sv=1.0&sig=⟦⟧
# aws-secret base64-40
aws_secret_access_key = ⟦⟧
AWS_SECRET_ACCESS_KEY=⟦⟧
export AWS_SECRET_ACCESS_KEY='⟦⟧'
"SecretAccessKey": "⟦⟧",
secret access key: ⟦⟧
the aws secret key is ⟦⟧ for the etl user
s3: access key in vault, secret key ⟦⟧
spark.hadoop.fs.s3a.secret.key ⟦⟧
fs.s3a.secret.key=⟦⟧
AWS-Secret: ⟦⟧
aws configure set aws_secret_access_key ⟦⟧
密钥 aws_secret_access_key：⟦⟧
# aws-pair base64-40
AK¦IAQWERTYUIOPASDFGH,⟦⟧
AK¦IAQWERTYUIOPASDFGH / ⟦⟧
AK¦IAQWERTYUIOPASDFGH⏎⟦⟧⏎
AK¦IAQWERTYUIOPASDFGH:⟦⟧
# aws-session session-token
aws_session_token = ⟦⟧
AWS_SESSION_TOKEN=⟦⟧
"SessionToken": "⟦⟧"
export AWS_SESSION_TOKEN="⟦⟧"
# authorization opaque
Authorization: Bearer ⟦⟧
authorization: bearer ⟦⟧
curl -H "Authorization: Bearer ⟦⟧" https://api.example.com/v1/me
curl -sS -H 'Authorization: Token ⟦⟧' https://paperless.local/api/
curl --header 'Authorization: ApiKey ⟦⟧' es:9200
headers = {"Authorization": "Bearer ⟦⟧"}
headers={'Authorization': f'Bearer ⟦⟧'}
req.setRequestHeader('Authorization', 'Bearer ⟦⟧')
-H "X-Api-Key: ⟦⟧"
x-api-key: ⟦⟧
PRIVATE-TOKEN: ⟦⟧
X-Vault-Token: ⟦⟧
X-Auth-Token: ⟦⟧
Ocp-Apim-Subscription-Key: ⟦⟧
DD-API-KEY: ⟦⟧
Proxy-Authorization: Bearer ⟦⟧
the service expects Bearer ⟦⟧ in the header
Authorization: ⟦⟧
Authorization=Bearer%20⟦⟧
заголовок Authorization: Bearer ⟦⟧ обязателен
请求头用Authorization: Bearer ⟦⟧即可
Authorization: SSWS ⟦⟧
Authorization: token ⟦⟧
Authorization: Api-Key ⟦⟧
# authorization-basic basic
Authorization: Basic ⟦⟧
curl -H 'Authorization: Basic ⟦⟧' https://jira.example.com
Proxy-Authorization: Basic ⟦⟧
"auths": {"ghcr.io": {"auth": "⟦⟧"}}
//registry.npmjs.org/:_auth=⟦⟧
header is Basic ⟦⟧
# curl-user mixed
curl -u admin:⟦⟧ http://es:9200/_cat/indices
curl -X POST -u 'svc:⟦⟧' https://jenkins/job/x/build
curl --user "ines:⟦⟧" https://jira.example.com/rest/api/2/myself
curl -sk -uelastic:⟦⟧ https://localhost:9200
http -a admin:⟦⟧ GET localhost:8000/api
wget --user=bob --password=⟦⟧ https://files.example.com/x.zip
# cli mixed
mysql -u root -p⟦⟧ shop < dump.sql
mysqldump -uroot -p'⟦⟧' shop
mysql --user=root --password=⟦⟧
psql: PGPASSWORD=⟦⟧ psql -h db -U app main
sshpass -p '⟦⟧' ssh ops@10.0.0.4
sshpass -p ⟦⟧ scp a b:
redis-cli -h cache -a ⟦⟧ ping
docker login -u bob -p ⟦⟧ registry.example.com
login tool --password ⟦⟧ --yes
tool --db-password=⟦⟧ run
mongosh --username app --password ⟦⟧ --authenticationDatabase admin
sqlcmd -S srv -U sa -P ⟦⟧ -Q 'select 1'
az login --service-principal -u app -p ⟦⟧ --tenant t
openssl pkcs12 -in a.p12 -passin pass:⟦⟧ -nodes
echo ⟦⟧ | docker login --username bob --password-stdin
echo 'bob:⟦⟧' | chpasswd
htpasswd -b .htpasswd bob ⟦⟧
ansible-playbook x.yml -e ansible_become_pass=⟦⟧
helm install db bitnami/postgresql --set auth.postgresPassword=⟦⟧
kubectl create secret generic db --from-literal=password=⟦⟧
net use Z: \\srv\share /user:corp\bob ⟦⟧
keytool -storepass ⟦⟧ -list
# cli-token opaque
tool login --token ⟦⟧
vault login ⟦⟧ # token
gh auth login --with-token <<< ⟦⟧
snyk auth ⟦⟧
ngrok config add-authtoken ⟦⟧
fly auth token: ⟦⟧
docker run -e API_KEY=⟦⟧ img
export HF_TOKEN=⟦⟧ && python run.py
kubeadm join 10.0.0.1:6443 --token ⟦⟧
codecov -t ⟦⟧
npm config set //registry.npmjs.org/:_authToken ⟦⟧
//registry.npmjs.org/:_authToken=⟦⟧
set API_TOKEN=⟦⟧
$env:API_KEY = "⟦⟧"
setx OPENAI_API_KEY "⟦⟧"
# query opaque
https://api.example.com/v1/data?token=⟦⟧
https://api.example.com/v1/data?limit=5&api_key=⟦⟧&page=2
wss://stream.example.com/?access_token=⟦⟧
https://maps.googleapis.com/maps/api/geocode/json?address=x&key=⟦⟧
https://app.example.com/callback#access_token=⟦⟧&token_type=bearer
https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=⟦⟧
https://storage.googleapis.com/b/o?X-Goog-Signature=⟦⟧
https://d111.cloudfront.net/f.mp4?Expires=1&Signature=⟦⟧&Key-Pair-Id=K1
callback?code=⟦⟧&state=xyz
https://example.com/reset?reset_token=⟦⟧
магазин https://shop.example.com/feed?apikey=⟦⟧ обновляется ночью
链接是https://x.example.com/a?token=⟦⟧，别外传
https://x.example.com/webhook?secret=⟦⟧
https://cal.example.com/ical?auth=⟦⟧
# env-file password
DB_PASSWORD=⟦⟧
export DB_PASSWORD="⟦⟧"
POSTGRES_PASSWORD='⟦⟧'
REDIS_PASS=⟦⟧⏎REDIS_HOST=cache
APP_ENV=prod⏎MAIL_PASSWORD=⟦⟧⏎MAIL_PORT=587
SMTP_PWD=⟦⟧
ADMIN_PASSWD=⟦⟧
ENV MYSQL_ROOT_PASSWORD=⟦⟧
ENV MYSQL_ROOT_PASSWORD ⟦⟧
spring.datasource.password=⟦⟧
ftp.password = ⟦⟧
DB_PASSWORD_PROD=⟦⟧
KEYSTORE_PASS=⟦⟧
BECOME_PASS: ⟦⟧
set PGPASSWORD=⟦⟧
# env-secret opaque
DJANGO_SECRET_KEY=⟦⟧
SECRET_KEY_BASE=⟦⟧
JWT_SECRET=⟦⟧
OPENAI_API_KEY=⟦⟧
export SLACK_SIGNING_SECRET=⟦⟧
CLIENT_SECRET='⟦⟧'
APP_KEY=base64:⟦⟧
ENCRYPTION_KEY="⟦⟧"
WEBHOOK_SECRET: ⟦⟧
MY_AUTH_TOKEN=⟦⟧
STRIPE_API_KEY_LIVE=⟦⟧
SENTRY_AUTH_TOKEN=⟦⟧
apikey=⟦⟧
consumer_secret = ⟦⟧
refresh_token: ⟦⟧
NEXTAUTH_SECRET="⟦⟧"
HEROKU_API_KEY=⟦⟧
session_secret = '⟦⟧'
GH_TOKEN=⟦⟧
gitlab_runner_token: ⟦⟧
# yaml password
db:⏎  user: app⏎  password: ⟦⟧⏎  port: 5432
password: '⟦⟧'
  - name: DB_PASSWORD⏎    value: "⟦⟧"
  - name: DB_PASSWORD⏎    value: ⟦⟧⏎  - name: X
stringData:⏎  password: ⟦⟧
outputs:⏎  dev:⏎    type: snowflake⏎    user: DBT⏎    password: ⟦⟧⏎    role: TRANSFORMER
smtp_auth_password: "⟦⟧"
wifi:⏎  ssid: office⏎  passphrase: ⟦⟧
ansible_ssh_pass: ⟦⟧
- password=⟦⟧
# json password
{"user": "app", "password": "⟦⟧", "port": 5432}
{"passwd":"⟦⟧"}
{'user': 'bob', 'pass': '⟦⟧'}
{\"password\": \"⟦⟧\"}
"dbPassword" : "⟦⟧"
{"name": "DB_PASSWORD", "value": "⟦⟧"}
{"credentials": {"username": "x", "password": "⟦⟧"}}
"userPassword":"⟦⟧"
body: {user: 'bob', password: '⟦⟧'}
# json-secret opaque
{"client_id": "abc", "client_secret": "⟦⟧"}
{"apiKey":"⟦⟧"}
"clientSecret": "⟦⟧"
{"access_token":"⟦⟧","expires_in":3600}
{"private_key_id": "1", "api-key": "⟦⟧"}
{'x-api-key': '⟦⟧'}
{"refreshToken": "⟦⟧"}
{"token": "⟦⟧"}
{"auth": {"bearer": "⟦⟧"}}
{\"api_key\":\"⟦⟧\"}
"secret": "⟦⟧"
"webhookSecret" => "⟦⟧"
"x-functions-key": "⟦⟧"
{"kty":"OKP","crv":"Ed25519","d":"⟦⟧"}
# toml-ini password
[database]⏎password = "⟦⟧"
[client]⏎user=root⏎password=⟦⟧
[smtp]⏎pass = ⟦⟧
passphrase: "⟦⟧"
requirepass ⟦⟧
rootpw ⟦⟧
wpa_passphrase=⟦⟧
psk="⟦⟧"
# code password
conn = psycopg.connect(host="db", user="app", password="⟦⟧")
const password = '⟦⟧';
String dbPassword = "⟦⟧";
password := "⟦⟧"
$password = '⟦⟧';
define('DB_PASSWORD', '⟦⟧');
os.environ["PGPASSWORD"] = "⟦⟧"
if pw == '⟦⟧': return True
cfg.setPassword("⟦⟧");
props.put("password", "⟦⟧");
auth=('bob', '⟦⟧')
os.getenv("DB_PASSWORD", "⟦⟧")
password: str = "⟦⟧"
let pass: &str = "⟦⟧";
:password => '⟦⟧',
HTTPBasicAuth("bob", "⟦⟧")
private static final String PASSWORD = "⟦⟧";
#define WIFI_PASS "⟦⟧"
var pwd = @"⟦⟧";
WiFi.begin(ssid, "⟦⟧"); // password
# code-secret opaque
client = OpenAI(api_key="⟦⟧")
const API_KEY = `⟦⟧`;
dd.initialize(api_key="⟦⟧", app_key="x")
app.secret_key = b'⟦⟧'
config.set("apiKey", "⟦⟧")
client = Client(account_sid, auth_token="⟦⟧")
cohere.Client("⟦⟧")
Mistral(api_key="⟦⟧")
let token: String = "⟦⟧".into();
axios.defaults.headers['X-API-KEY'] = '⟦⟧'
SECRET = '⟦⟧'
token = "⟦⟧"
# xml password
<password>⟦⟧</password>
<add key="Password" value="⟦⟧" />
<property name="password" value="⟦⟧"/>
<server><username>ci</username><password>⟦⟧</password></server>
<entry key='db.password'>⟦⟧</entry>
<Setting Name="SmtpPassword" Value="⟦⟧"/>
# netrc mixed
machine api.example.com login bob password ⟦⟧
machine git.example.com⏎  login bob⏎  password ⟦⟧⏎
default login anonymous password ⟦⟧
# sql mixed
CREATE USER app WITH PASSWORD '⟦⟧';
ALTER ROLE loader PASSWORD '⟦⟧'
CREATE USER 'etl'@'%' IDENTIFIED BY '⟦⟧';
CREATE USER loader PASSWORD = '⟦⟧' DEFAULT_ROLE = LOADER;
CREATE LOGIN dw WITH PASSWORD = N'⟦⟧';
ALTER USER sys IDENTIFIED BY "⟦⟧"
GRANT ALL ON *.* TO 'x'@'h' IDENTIFIED BY '⟦⟧'
UPDATE users SET password = '⟦⟧' WHERE id = 4
CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET '⟦⟧');
COPY t FROM 's3://b/k' CREDENTIALS 'aws_access_key_id=x;aws_secret_access_key=⟦⟧'
# cookie alnum-32
Cookie: session=⟦⟧
Cookie: theme=dark; sessionid=⟦⟧; lang=de
Set-Cookie: PHPSESSID=⟦⟧; path=/; HttpOnly
Set-Cookie: connect.sid=s%3A⟦⟧; Path=/
curl -b 'session=⟦⟧' https://app.example.com
JSESSIONID=⟦⟧
cookie: _gh_sess=⟦⟧; logged_in=yes
Cookie: auth_token=⟦⟧
# webhook slack-path
https://hooks.slack.com/services/⟦⟧
alerts go to https://hooks.slack.com/services/⟦⟧ since May
告警地址https://hooks.slack.com/services/⟦⟧。
# webhook discord-path
https://discord.com/api/webhooks/⟦⟧
bot posts via https://discordapp.com/api/webhooks/⟦⟧?wait=true
# webhook teams-path
https://acme.webhook.office.com/webhookb2/⟦⟧
Teams: https://outlook.office.com/webhook/⟦⟧
# webhook telegram
https://api.telegram.org/bot⟦⟧/sendMessage
# sentry-dsn hex-32
SENTRY_DSN=https://⟦⟧@o447951.ingest.sentry.io/5429219
dsn https://⟦⟧@sentry.example.com/2
# vendor-context hex-32
twilio auth token: ⟦⟧
TWILIO_AUTH_TOKEN=⟦⟧
Datadog API key ⟦⟧
datadog app key is ⟦⟧
DD_API_KEY=⟦⟧
algolia admin key: ⟦⟧
Mistral key: ⟦⟧
mistral api key → ⟦⟧
cohere key is ⟦⟧
Our OpenWeather key: ⟦⟧
Snowflake PAT token: ⟦⟧
dbt Cloud token ⟦⟧
wandb login ⟦⟧
Cloudflare global API key: ⟦⟧
PagerDuty routing key ⟦⟧
Mailgun signing key: ⟦⟧
fivetran api secret ⟦⟧
Amplitude secret key: ⟦⟧
# vendor-context uuid
heroku api key: ⟦⟧
HEROKU_API_KEY=⟦⟧
Postmark server token ⟦⟧
railway token is ⟦⟧
the azure client secret is ⟦⟧
# prose-english password
the password is ⟦⟧
The password is ⟦⟧.
password for the db is: ⟦⟧
wifi password at the Lisbon office: ⟦⟧
pw: ⟦⟧
PW = ⟦⟧
my passcode is ⟦⟧
login: bob, password: ⟦⟧
user admin / password ⟦⟧
Password: ⟦⟧⏎Username: bob
Username: bob⏎Password: ⟦⟧
we changed the password to ⟦⟧ yesterday
The root password was set to '⟦⟧'.
password is now ⟦⟧
the new password will be ⟦⟧
Remember: the Grafana admin password is "⟦⟧"
pass: ⟦⟧
pwd ⟦⟧
use ⟦⟧ as the password
⟦⟧ is the password for staging
credentials: admin / ⟦⟧
creds are admin:⟦⟧
Log in with user svc_etl and password ⟦⟧
password=⟦⟧
passphrase for the key: ⟦⟧
The vault's master password is `⟦⟧`
**Password:** ⟦⟧
**Password**: `⟦⟧`
| admin | password | ⟦⟧ |
Password - ⟦⟧
password → ⟦⟧
(pw: ⟦⟧)
Password:⏎⟦⟧⏎
bob's password's ⟦⟧
the password of the service account svc_x is ⟦⟧, valid until May
temp password is ⟦⟧ please change it
# prose-secret opaque
the API key is ⟦⟧
our token is ⟦⟧, keep it safe
API key for the geocoder: ⟦⟧
here's the secret: ⟦⟧
use this token ⟦⟧ to call it
access token ⟦⟧ expires in May
key for staging api: ⟦⟧
the bot token is `⟦⟧`
client secret ⟦⟧
API key:⏎⟦⟧
I generated a new api key, it's ⟦⟧
signing secret -> ⟦⟧
the encryption key is ⟦⟧
**API Key:** `⟦⟧`
api token = ⟦⟧
# prose-pin pin
my PIN is ⟦⟧
the door PIN: ⟦⟧
passcode ⟦⟧
alarm code is ⟦⟧
# prose-german mixed
das Passwort ist ⟦⟧
Passwort: ⟦⟧
Passwort für die DB lautet ⟦⟧
Kennwort = ⟦⟧
Das neue Kennwort lautet: ⟦⟧.
Zugangsdaten: admin / ⟦⟧
WLAN-Passwort ist "⟦⟧"
Der API-Schlüssel ist sicher, das PW ist ⟦⟧
# prose-romance mixed
mot de passe : ⟦⟧
le mot de passe est ⟦⟧
mdp: ⟦⟧
Mot de passe de la base = « ⟦⟧ »
la contraseña es ⟦⟧
contraseña: ⟦⟧
clave de acceso: ⟦⟧
a senha é ⟦⟧
senha: ⟦⟧
senha do banco é ⟦⟧.
la password è ⟦⟧
parola d'ordine: ⟦⟧
# prose-european mixed
het wachtwoord is ⟦⟧
wachtwoord: ⟦⟧
hasło: ⟦⟧
hasło to ⟦⟧
heslo je ⟦⟧
lösenordet är ⟦⟧
lösenord: ⟦⟧
adgangskode: ⟦⟧
salasana on ⟦⟧
şifre: ⟦⟧
parola este ⟦⟧
mật khẩu là ⟦⟧
kata sandi: ⟦⟧
# prose-cyrillic mixed
пароль: ⟦⟧
Пароль от базы — ⟦⟧
пароль ⟦⟧
пароль к базе: ⟦⟧, не терять
новый пароль это ⟦⟧
пароль=⟦⟧
Пароль «⟦⟧»
пароль такой: ⟦⟧
токен: ⟦⟧
логин admin, пароль ⟦⟧
# prose-chinese mixed
密码是⟦⟧
密码：⟦⟧
数据库密码是⟦⟧请保密
密码为⟦⟧。
账号admin密码⟦⟧
新密码“⟦⟧”
密碼: ⟦⟧
口令：⟦⟧
wifi密码⟦⟧
初始密码设为⟦⟧
# prose-japanese mixed
パスワードは⟦⟧です
パスワード：⟦⟧
DBのパスワードは「⟦⟧」です。
パスワード ⟦⟧
暗証番号は⟦⟧
パスは⟦⟧
新しいパスワードを⟦⟧に変更した
# prose-korean mixed
비밀번호는 ⟦⟧
비밀번호: ⟦⟧
비밀번호는 ⟦⟧입니다
DB 비밀번호 ⟦⟧
비번은 ⟦⟧이야
암호: ⟦⟧
패스워드는 ⟦⟧입니다.
# prose-semitic-indic mixed
كلمة المرور هي ⟦⟧
كلمة السر: ⟦⟧
كلمة المرور: ⟦⟧
הסיסמה היא ⟦⟧
סיסמה: ⟦⟧
הסיסמא: ⟦⟧
पासवर्ड ⟦⟧ है
पासवर्ड: ⟦⟧
डेटाबेस का पासवर्ड है ⟦⟧
รหัสผ่าน: ⟦⟧
รหัสผ่านคือ ⟦⟧
# prose-token-other opaque
API-Schlüssel: ⟦⟧
Der API-Key lautet ⟦⟧
clé API : ⟦⟧
la clave de API es ⟦⟧
chave de API: ⟦⟧
ключ API: ⟦⟧
API密钥：⟦⟧
密钥是⟦⟧
APIキーは⟦⟧です
トークン：⟦⟧
API 키: ⟦⟧
토큰은 ⟦⟧입니다
مفتاح API: ⟦⟧
मेरी API key ⟦⟧ है
令牌: ⟦⟧
секретный ключ: ⟦⟧
jeton : ⟦⟧
# second-notes-to-self password
wifi at the cabin → network Fjordnet, pw ⟦⟧
p/w: ⟦⟧
psw: ⟦⟧
u: admin p: ⟦⟧
user=admin pass=⟦⟧
login/password: root/⟦⟧
Username: etl_svc | Password: ⟦⟧
Credentials → ops@example.io:⟦⟧
🔐 password: ⟦⟧
Grafana (admin/⟦⟧)
router admin page 192.168.1.1, admin password ⟦⟧
NAS login bob / ⟦⟧
The zip is protected, password is ⟦⟧
the zip's password: ⟦⟧
His new password is "⟦⟧", he asked me to remember it.
Please remember that my password for the staging VPN is ⟦⟧
remember: password = ⟦⟧
Password (temporary): ⟦⟧
PASSWORD:⟦⟧
password:⟦⟧
Passwords: db=⟦⟧
pass = "⟦⟧"
my pass is ⟦⟧
I use ⟦⟧ as my password everywhere
default password is still ⟦⟧, change it!
we agreed on ⟦⟧ for the root password
type ⟦⟧ when it asks for the password
sudo password for build-01 is ⟦⟧
<b>Password:</b> ⟦⟧
<td>Password</td><td>⟦⟧</td>
* Password: ⟦⟧
1. user bob⏎2. password ⟦⟧
Passphrase ⟦⟧ unlocks the backup disk
keystore password ⟦⟧, alias upload
unlock with passcode ⟦⟧
# second-config-files password
services:⏎  db:⏎    environment:⏎      - POSTGRES_PASSWORD=⟦⟧
environment:⏎  MYSQL_ROOT_PASSWORD: ⟦⟧⏎  MYSQL_DATABASE: shop
resource "aws_db_instance" "main" {⏎  password = "⟦⟧"⏎}
variable "db_password" {⏎  default = "⟦⟧"⏎}
spring:⏎  datasource:⏎    username: app⏎    password: "⟦⟧"
"ConnectionStrings": {"Default": "Server=db;Database=x;User Id=sa;Password=⟦⟧"}
db.default.password="⟦⟧"
hibernate.connection.password=⟦⟧
<connectionString="Data Source=x;Password=⟦⟧;"/>
[remote "nas"]⏎user = bob⏎pass = ⟦⟧
smtp_sasl_password_maps: [mail]:587 user:⟦⟧
bindpw ⟦⟧
ldap.bind.password: ⟦⟧
ansible_password: "⟦⟧"
mysql_root_password='⟦⟧'
GF_SECURITY_ADMIN_PASSWORD=⟦⟧
SNOWFLAKE_PASSWORD=⟦⟧ dbt run
PGPASSWORD='⟦⟧' pg_dump -h db main > x.sql
db_pass: '⟦⟧'
$cfg['Servers'][$i]['password'] = '⟦⟧';
"password" = "⟦⟧"
Password="⟦⟧"
{"username":"bob","password":"⟦⟧","remember":true}
username=bob&password=⟦⟧&submit=1
ftp_password => "⟦⟧",
auth:⏎  basic:⏎    username: x⏎    password: ⟦⟧
# second-commands mixed
curl https://es:9200 -u elastic:⟦⟧ -k
curl "https://admin:⟦⟧@es:9200/_search"
mysql -h db -u app -p"⟦⟧" main
mysqladmin -u root password '⟦⟧'
psql "host=db user=app password=⟦⟧ dbname=main"
psql postgresql://app:⟦⟧@db/main
sqlplus system/⟦⟧@//ora1:1521/XE
impdp system/⟦⟧ directory=DATA_PUMP_DIR
mongo -u admin -p ⟦⟧ --authenticationDatabase admin
redis-cli -u redis://:⟦⟧@cache:6379
AUTH ⟦⟧
smbclient //nas/share -U bob%⟦⟧
mount -t cifs //nas/x /mnt -o username=bob,password=⟦⟧
rclone config create r sftp host=h user=u pass=⟦⟧
unzip -P ⟦⟧ backup.zip
7z x -p⟦⟧ backup.7z
gpg --batch --passphrase ⟦⟧ -d x.gpg
openssl enc -d -aes-256-cbc -k ⟦⟧ -in x
keytool -import -keystore k.jks -storepass ⟦⟧
Connect-PSSession -Password ⟦⟧
snowsql -u loader --password ⟦⟧
bq query --api_token=⟦⟧
echo "⟦⟧" | sudo -S systemctl restart etl
ssh-keygen -t ed25519 -N '⟦⟧' -f key
expect "Password:" { send "⟦⟧\r" }
# second-http opaque
GET /v1/me HTTP/1.1⏎Host: x⏎Authorization: Bearer ⟦⟧⏎Accept: */*
requests.get(url, headers={"Authorization": "Bearer ⟦⟧"})
fetch(u, {headers: {Authorization: `Bearer ⟦⟧`}})
http GET api.example.com Authorization:"Bearer ⟦⟧"
--header "X-API-Key: ⟦⟧"
-H 'api-key: ⟦⟧'
-H "apikey:⟦⟧"
-H 'X-Shopify-Access-Token: ⟦⟧'
X-Figma-Token: ⟦⟧
Circle-Token: ⟦⟧
X-Goog-Api-Key: ⟦⟧
Cookie: sid=⟦⟧; Path=/
document.cookie = "auth=⟦⟧"
set-cookie: access_token=⟦⟧; HttpOnly; Secure
https://x.example.com/api?apiKey=⟦⟧
https://x.example.com/cb?client_secret=⟦⟧&code=1
https://hooks.example.com/in?secret=⟦⟧#top
https://example.com/invite?invite_token=⟦⟧
wss://x/ws?auth_token=⟦⟧&v=2
https://x-access-token:⟦⟧@github.com/acme/p.git
https://⟦⟧@github.com/acme/p.git
git clone https://oauth2:⟦⟧@gitlab.example.com/a/b
# second-keys opaque
api_key: ⟦⟧
API KEY - ⟦⟧
Api-Key=⟦⟧
the key for the weather API is ⟦⟧
new API key generated: ⟦⟧
here is your access token: ⟦⟧
Access Token: ⟦⟧⏎Refresh Token: none
Your personal access token ⟦⟧ will not be shown again
client id abc, client secret ⟦⟧
app secret: ⟦⟧
SECRET_KEY = "⟦⟧"
secret = ⟦⟧
signingKey: "⟦⟧"
encryption key ⟦⟧ (AES)
HMAC secret ⟦⟧
webhook signing secret is ⟦⟧
token='⟦⟧'
token = os.getenv("TOKEN", "⟦⟧")
self.api_key = "⟦⟧"
private val apiKey = "⟦⟧"
const secretKey = process.env.SECRET || "⟦⟧";
"auth_token": "⟦⟧",
bot_token=⟦⟧
deploy token → ⟦⟧
license key: ⟦⟧
master key ⟦⟧
MISTRAL_API_KEY=⟦⟧
COHERE_API_KEY="⟦⟧"
datadog: api_key=⟦⟧
twilio token ⟦⟧
PAT: ⟦⟧
X_TOKEN: ⟦⟧
- name: API_TOKEN⏎  value: ⟦⟧
apiVersion: v1⏎kind: Secret⏎stringData:⏎  token: ⟦⟧
terraform.tfvars: api_token = "⟦⟧"
databricks token is ⟦⟧
vault token: ⟦⟧
Kaggle key ⟦⟧
# second-bare-vendor-shapes vendor
{}: ⟦⟧
we use ⟦⟧ for it
新的是⟦⟧。
# second-prose-elsewhere mixed
Das WLAN-Passwort im Büro lautet: ⟦⟧
Zugang: Benutzer admin, Passwort ⟦⟧
PW für den Server: ⟦⟧
Kennwort ⟦⟧ (bitte ändern)
le mdp est ⟦⟧
mot de passe du wifi : ⟦⟧
Identifiant bob, mot de passe ⟦⟧
la clave del wifi es ⟦⟧
usuario: bob contraseña: ⟦⟧
la contraseña nueva es "⟦⟧"
a senha do wifi é ⟦⟧
usuário bob, senha ⟦⟧
La password del server è ⟦⟧
password del db: ⟦⟧
hasło do bazy: ⟦⟧
wachtwoord voor de server is ⟦⟧
şifresi: ⟦⟧
пароль до бази: ⟦⟧
пароль на вайфай ⟦⟧
логин root пароль ⟦⟧
мой пароль — ⟦⟧, запомни
пасс: ⟦⟧
密码:⟦⟧
服务器密码是 ⟦⟧ ，请记住
密码改成了⟦⟧
root/⟦⟧ 是登录账号和密码
用户名admin，密码⟦⟧，端口22
初始密码⟦⟧登录后请修改
PWは⟦⟧です
パスワード→⟦⟧
サーバーのパスワードは ⟦⟧ です
ログインID: bob / パスワード: ⟦⟧
비번: ⟦⟧
서버 비밀번호는 ⟦⟧ 입니다
아이디 bob 비밀번호 ⟦⟧
الباسورد: ⟦⟧
كلمة المرور الخاصة بالخادم هي ⟦⟧
הסיסמה לשרת: ⟦⟧
סיסמת הוויפי היא ⟦⟧
पासवर्ड यह है: ⟦⟧
सर्वर का पासवर्ड ⟦⟧ है, याद रखो
mật khẩu wifi là ⟦⟧
password-nya ⟦⟧
kata sandinya adalah ⟦⟧
รหัสผ่านคือ⟦⟧
# third-chat password
hey, for the demo account use demo@acme.io with password ⟦⟧
btw the staging password changed, it's ⟦⟧ now
The customer's SFTP: host sftp.acme.io, user acme_in, password ⟦⟧
I reset your password to ⟦⟧, please log in and change it
temporary password: ⟦⟧ (expires tomorrow)
User: ines⏎Pass: ⟦⟧⏎Host: dw-prod
Metabase: ines@acme.io / ⟦⟧
Jenkins admin user is ci, its password is ⟦⟧
Could you remember this for me? Password for the printer: ⟦⟧
guest wifi "acme-guest" password "⟦⟧"
For VPN, username is your mail, password is ⟦⟧
Password to unlock the PDF is ⟦⟧.
old password ⟦⟧ no longer works
the service user's password (svc_load) is ⟦⟧
superset login admin password ⟦⟧
db creds: user=report, password=⟦⟧, host=pg1
> password: ⟦⟧
- **password**: ⟦⟧
`password`: `⟦⟧`
Password → `⟦⟧`
"password is ⟦⟧" — from Jonas, 3 Nov
SQL Server sa password = ⟦⟧
Note: password for encrypted backups = "⟦⟧"
# third-files password
[mysql]⏎user=etl⏎password="⟦⟧"⏎host=db1
db_config = {'host': 'pg1', 'user': 'app', 'password': '⟦⟧', 'port': 5432}
engine = create_engine("mysql+pymysql://app:" + "⟦⟧" + "@db/main")
conn_params["password"] = "⟦⟧"
config.password = '⟦⟧'
  MYSQL_PASSWORD: "⟦⟧"
      PGPASSWORD: ⟦⟧
airflow connections add pg --conn-login app --conn-password ⟦⟧
helm upgrade x --set postgresql.auth.password='⟦⟧'
spark.read.format("jdbc").option("password", "⟦⟧").load()
.option("user", "app").option("password","⟦⟧")
<jdbc-password>⟦⟧</jdbc-password>
jdbc.password=⟦⟧
quarkus.datasource.password=⟦⟧
"Password": "⟦⟧",
'db_passwd' => '⟦⟧',
sshpass -p"⟦⟧" rsync -a . ops@h:/srv
$env:PGPASSWORD='⟦⟧'
SET PGPASSWORD=⟦⟧
connection: {host: pg1, user: app, password: ⟦⟧}
redis://default:⟦⟧@redis-12345.c1.eu.cloud.redislabs.com:12345
AIRFLOW_CONN_PG=postgres://etl:⟦⟧@pg1:5432/dw
snowflake://LOADER:⟦⟧@xy12345.eu-central-1/RAW
Data Source=ora1;User Id=scott;Password=⟦⟧;Pooling=true
odbc: DSN=dw;UID=loader;PWD=⟦⟧
kinit-free login: beeline -u jdbc:hive2://h:10000 -n etl -p ⟦⟧
ENV DB_PASS=⟦⟧
args: ["--password=⟦⟧", "--port=5432"]
connect('pg1', user='app', passwd='⟦⟧')
mail: {smtp: {user: 'x', pass: '⟦⟧'}}
# third-tokens opaque
Authorization: Bearer ⟦⟧
export ACME_API_TOKEN="⟦⟧"
dbt cloud service token: ⟦⟧
my personal token for gitlab is ⟦⟧
The Slack bot uses token ⟦⟧ in #data-ops
TOKEN=⟦⟧ python sync.py
"token":"⟦⟧"
token: "⟦⟧"
X-Token: ⟦⟧
api token (read only): ⟦⟧
API-Token ⟦⟧ läuft im Mai ab
session token is ⟦⟧
?access_token=⟦⟧&format=json
curl -H "X-Auth-Key: ⟦⟧" https://api.cloudflare.com/client/v4/zones
curl 'https://api.example.com/v2/orders?api_key=⟦⟧'
auth token for the registry → ⟦⟧
SECRET=⟦⟧
shared secret: ⟦⟧
The webhook's secret is ⟦⟧
oauth client secret = ⟦⟧
"clientSecret":"⟦⟧"
client_id=abc client_secret=⟦⟧
JWT_SECRET_KEY: ⟦⟧
FERNET_KEY=⟦⟧
AIRFLOW__CORE__FERNET_KEY=⟦⟧
app.config["SECRET_KEY"] = "⟦⟧"
SECRET_KEY: '⟦⟧'
storage key ⟦⟧
account key: ⟦⟧
access key / secret key: AB12 / ⟦⟧
Weather API key is "⟦⟧"
OpenAI key ⟦⟧
use key ⟦⟧ for the maps API
the Datadog API key we use is ⟦⟧
api_key = ⟦⟧  # prod
apiKey=⟦⟧
API_KEY: ⟦⟧
x-rapidapi-key: ⟦⟧
"x-api-key" : "⟦⟧"
headers: { 'Api-Key': '⟦⟧' }
set_api_key("⟦⟧")
openai.api_key = '⟦⟧'
wandb.login(key="⟦⟧")
new Client({ token: '⟦⟧' })
ACCESS_TOKEN_SECRET=⟦⟧
PrivateKey = ⟦⟧
private key: ⟦⟧
bearer: ⟦⟧
credentials: ⟦⟧
# third-elsewhere mixed
Das Passwort vom Testsystem ist ⟦⟧
Passwort = ⟦⟧
Login: admin, Passwort: ⟦⟧
Neues Passwort: ⟦⟧, gilt ab morgen
Benutzername ines, Kennwort ⟦⟧
le mot de passe de la base est ⟦⟧
Mot de passe : ⟦⟧
utilisateur app, mdp ⟦⟧
la contraseña del servidor es ⟦⟧
Contraseña: ⟦⟧
clave: ⟦⟧
senha do banco: ⟦⟧
A senha nova é ⟦⟧
пароль от сервера: ⟦⟧
Пароль: ⟦⟧
логин: app пароль: ⟦⟧
новый пароль ⟦⟧
密码：⟦⟧
数据库的密码是⟦⟧
账号 app 密码 ⟦⟧
密码是 ⟦⟧，别忘了
パスワードは ⟦⟧
パスワード: ⟦⟧
新パスワードは⟦⟧です。
비밀번호: ⟦⟧
DB 비밀번호는 ⟦⟧이고 포트는 5432
كلمة المرور ⟦⟧
كلمة السر هي ⟦⟧
הסיסמה היא ⟦⟧
הסיסמה: ⟦⟧
पासवर्ड है ⟦⟧
पासवर्ड - ⟦⟧
"""

# ---- notes that hold no secret -------------------------------------------------------------------------
ORDINARY = r"""
# talk-about-passwords
the password is stored in Vault
password is required
the password is rotated every 90 days
The password is wrong.
The password is correct, the account is locked.
password is not set
password is empty
Password is optional for guests.
reset your password
I forgot my password again and had to call IT.
use the API key from 1Password
the password is in 1Password under "Warehouse prod"
password: see vault
Password: ask Ines
password: (see the team vault)
Passwords are hashed with argon2id before they reach the users table.
Users must change their password after first login.
password must be at least 12 characters with 1 digit
The password policy requires 14 characters.
Password expired for svc_etl; rotate before Monday.
Password rotation is automated since 2023.
The user prefers passkeys over passwords.
Passwordless login is enabled for contractors.
passwords never go into notes
We do not share passwords by mail.
The wifi password is on the whiteboard.
The wifi password is printed on the router.
password for the db is in AWS Secrets Manager
password of the service account is managed by Terraform
Ask Jonas for the password.
He asked whether the password was changed.
the password was changed yesterday
the password has been reset
password reset link expires after 30 minutes
password change → forces logout on all devices
Password: ********
Password: •••••••
password: [redacted]
password: <hidden>
Password: n/a
Password - same as before
the password is the same as last year
password is too short
password is case-sensitive
password is incorrect
The password is known only to the DBAs.
The password is generated by the operator and never leaves the cluster.
The default password is documented in the runbook.
the password is about to expire
password authentication failed for user "app"
FATAL: password authentication failed for user "airflow"
Access denied for user 'root'@'localhost' (using password: YES)
Permission denied (publickey,password).
Warning: Using a password on the command line interface can be insecure.
sudo: a password is required
bob's password expires 2025-03-01
pw reset flow is broken on mobile
PW rotation done for 14 of 20 systems
pwd prints the working directory
run pwd and ls -la first
pass the flag --dry-run first
pass: 42 tests, fail: 0
PASS: test_scrubber_keeps_text
tests pass on 3.11 and 3.12
The build passed: 312 tests in 41 s
passing score is 80%
first pass done, second pass tomorrow
passport number format is checked in the form
compass heading 270
Bypass the cache with ?nocache=1
The passage about retention is on page 12.
passenger_count is null for 3% of rows
passphrase is entered by hand at boot
The passcode is sent by SMS.
my passcode is too easy, remind me to change it
pin the version to 2.1.4
pin: 13 is the LED on this board
PIN 5 and PIN 6 are swapped on the new board
The PIN is sent by letter.
pinned dependency numpy==1.26.4
the door code is changed monthly
Password managers: the team uses Bitwarden.
password hash algorithm: bcrypt cost 12
Password length 8-64
Password strength: weak
Password = something only you know
password vs. passphrase: see wiki
password:
password =
Password?
What is the password?
"password" is a reserved column name here
the word password appears 31 times in the docs
the secret is out: we ship on Friday
the secret is patience
secret sauce of the team is pairing
The secret ingredient is cardamom.
it's no secret that the batch is slow
Secret Santa is on 12 December
secretary of the board: Ms. Oyelaran
Secrets live in Vault, never in git.
secrets are rotated by the platform team
Kubernetes secret db-credentials is mounted at /run/secrets
secretName: wildcard-tls
secretKeyRef: name: db-credentials
imagePullSecrets are configured per namespace
the client secret is stored in Key Vault kv-data-prod
client secret expires on 2025-06-30
API key rotation happens each quarter
The API key is stored in the keychain.
API key is missing
api key not found
Invalid API key provided
The API key is scoped to read-only
api keys are per project
use your own API key
We need an API key for the geocoder by Tuesday.
The API key lives in Secret Manager under geocoder/prod.
token count is 4096
max_tokens: 4096
max_tokens=512
tokens_used: 1834
total_tokens=52311
prompt_tokens: 812, completion_tokens: 144
token_count = 77
The token is expired
The token is refreshed every hour
token expired, re-login needed
Token-based auth replaces sessions in Q3
tokens per second: 48
token limit is 200k
The token bucket refills 10 per second.
Tokenizer splits CJK text badly
context window 128000 tokens
ERC-20 token supply is 21000000
token ring networks are history
the token is valid for 3600 seconds
bearer of bad news: the migration slipped
Bearer token auth is used between services
Bearer authentication is described in RFC 6750
Basic authentication is disabled
basic understanding of SQL expected
Basic plan costs 12 EUR
Authorization is handled by OPA
authorization: required
Authorization header is missing
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${ACCESS_TOKEN}
Authorization: Bearer YOUR_TOKEN_HERE
Authorization: Bearer {{ token }}
Authorization: Basic <base64(user:pass)>
X-Api-Key: <your key>
x-api-key: required
Credentials are in the safe
credentials: see onboarding doc
cookie policy banner approved
Cookie: required for login
Cookie: <session cookie>
session: 45 minutes with the data team
session=weekly-sync
login: use SSO
login admin panel moved to /backoffice
the master key is in the safe at the bank
primary key is (tenant_id, note_id)
primary_key: note_id
sort_key: created_at
partition key = customer_id
the key is to start small
key takeaway: cache invalidation is hard
foreign key orders.customer_id → customers.id
key: value pairs are stored as JSONB
public key fingerprint SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDrLCwd6QSsTjUKGFs
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bob@laptop
idempotency key: order-2024-11-03-0007
cache key is user:{id}:profile
license key is required for the enterprise build
API key ID: the short one in the console
access key ID is shown in the IAM console
# placeholders-and-references
set password=<your password>
password=${DB_PASSWORD}
password=$DB_PASSWORD
password=os.environ["X"]
password = os.environ["DB_PASSWORD"]
password=********
password=xxxxxxxx
password=XXXX
api_key=YOUR_API_KEY
api_key="YOUR_API_KEY"
api_key = "<insert key here>"
API_KEY=...
API_KEY=
TOKEN=changeme-in-prod-please
password: "{{ vault_db_password }}"
password: {{ secrets.DB_PASSWORD }}
${{ secrets.NPM_TOKEN }}
token: ${{ secrets.GITHUB_TOKEN }}
PASSWORD=$(vault read -field=password secret/db)
export TOKEN=$(gcloud auth print-access-token)
TOKEN=`cat /run/secrets/token`
DB_PASSWORD_FILE=/run/secrets/db_password
password_file: /etc/app/password
password: !vault |
password: ENC[AES256_GCM,data:abc]
password: !Ref DbPassword
password: {get_param: db_password}
secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-Ab12Cd
valueFrom: secretKeyRef: key: password
token: null
password: null
"password": null
"password": ""
"password": "string"
{"password": {"type": "string", "minLength": 8}}
"token": true
postgres://user:password@localhost:5432/db
postgres://user:<password>@host/db
postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/main
mysql://user:***@host/db
https://user:[secret:url-password]@host/x
password=[secret:password]
Authorization: Bearer [secret:authorization]
the password is [secret:password] since May
curl -u "$USER:$PASS" https://example.com
curl -u user:pass https://example.com
curl -u ines https://example.com
mysql -u root -p
mysql -u root -p shop
ssh -p 2222 host
docker run -p 8080:80 nginx
mkdir -p /srv/data
psql -h db -p 5432 -U app
--password <password>
--password "$PGPASSWORD"
--token $TOKEN
--password-stdin reads from stdin
-H "Authorization: Bearer $TOKEN"
?token=<token>
https://api.example.com/v1?api_key=YOUR_KEY
https://api.example.com/v1?api_key={api_key}
https://app.example.com/list?page_token=&limit=50
sk-...
gh¦p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
the id in the AWS docs ends in EXAMPLE
tokens start with ghp_ or github_pat_
keys start with sk-ant-
the prefix is xoxb- for bots
-----BEGIN PRIVATE KEY----- is how the file starts
-----BEGIN CERTIFICATE-----
BEGIN; UPDATE t SET a = 1; COMMIT;
# code
def get_token(user):
token = get_token()
password: str
password = None
password: Optional[str] = None
password = getpass.getpass()
password = input("Password: ")
self.password = password
user.password = form.password.data
token = request.headers["Authorization"]
token = request.cookies.get("token")
secret = settings.SECRET_KEY
api_key=api_key
client = OpenAI(api_key=os.getenv("OPENAI_API_KEY"))
client = OpenAI(api_key=settings.openai_api_key)
const token = await fetchToken();
const { token, user } = session;
let password = process.env.DB_PASSWORD;
if (password == null) return;
if password != confirm_password:
assert token is not None
raise ValueError("password is required")
raise AuthError("invalid token")
password = password.strip()
password: string;
passwordHash: string;
private String password;
interface Props { token: string; secret?: string }
type Login struct { Password string `json:"password"` }
Password string `json:"password" validate:"required"`
form.get("password", "")
data["token"] = token
headers = {"Authorization": f"Bearer {token}"}
headers["X-Api-Key"] = api_key
x = sorted(rows, key=lambda r: r.created_at)
for key, value in secrets.items():
import secrets; secrets.token_hex(16)
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
pad_token = "<pad>"
eos_token_id: 50256
tokens = tokenizer.encode(text)
next_page_token = response.get("nextPageToken")
csrf_token = get_csrf(request)
@pytest.fixture
class PasswordResetView(View):
PasswordResetTokenGenerator handles the link
AbstractSingletonProxyFactoryBean is a real class name
getAuthenticationManagerBuilderFactoryProvider()
verify_password(plain, hashed)
check_password_hash(user.password_hash, password)
pwd_context = CryptContext(schemes=["bcrypt"])
os.chdir(pwd)
hash = sha256(secret).hexdigest()
<input type="password" name="password" required>
<label for="password">Password</label>
<PasswordField label="Password" />
placeholder="Enter your password"
aria-label="password"
password.value = ""
token.startswith("Bearer ")
auth = (user, password)
auth=HTTPBasicAuth(user, password)
session = requests.Session()
session_id = uuid4()
key = (row.tenant, row.id)
API_KEY = os.environ.get("API_KEY", "")
env: API_KEY
COOKIE_NAME = "session"
response.set_cookie("session", value)
grant_type=client_credentials
scope=read&grant_type=authorization_code
"scripts": {"pass": "node pass.js"}
from sklearn.linear_model import LogisticRegression
pip install sk-learn is wrong, use scikit-learn
model="text-embedding-3-small"
model: claude-3-5-sonnet-20241022
gpt-4o-mini-2024-07-18 is cheaper
kubectl get secret db-credentials -o yaml
kubectl create secret generic db --from-file=password.txt
git commit -m "remove hard-coded password"
feat(auth): rotate token on login
TODO: stop logging the token
logger.info("token=%s", mask(token))
print(f"password={password}")
# sql-and-schemas
WHERE password IS NULL
SELECT token FROM sessions
SELECT id, password_hash FROM users WHERE email = $1
users.password_hash is varchar(97)
token_id references tokens(id)
api_key_id is the surrogate key
ALTER TABLE users ADD COLUMN password_changed_at timestamptz
CREATE TABLE tokens (id uuid primary key, token_hash bytea)
CREATE USER app WITH PASSWORD :'app_password';
ALTER USER app PASSWORD NULL
ALTER USER app WITH PASSWORD '<password>';
DROP INDEX idx_users_password_reset_token
GRANT SELECT ON secrets TO auditor
SELECT count(*) FROM api_keys WHERE revoked_at IS NULL
UPDATE users SET password = crypt($1, gen_salt('bf'))
INSERT INTO tokens (user_id, token) VALUES ($1, $2)
columns: id, tenant_id, token, created_at
the token column is unique
dim_customer joins fct_orders on customer_key
surrogate_key(['order_id', 'line_no'])
secret_name text not null
SELECT key, value FROM settings WHERE key LIKE 'smtp.%'
IDENTIFIED BY is MySQL syntax
IDENTIFIED BY PASSWORD is deprecated
password_policy = strict
credentials_id BIGINT
auth_method: oauth2
auth: sso
is_secret boolean default false
Column access_token is encrypted with pgcrypto.
PARTITION KEY (tenant_id), CLUSTERING KEY (created_at)
# hashes-and-identifiers
user id 7f3b9c52-3b1e-4d67-9a54-0c6f1de0b8aa
run 550e8400-e29b-41d4-a716-446655440000 failed twice
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build
fixed in 1a2b3c4 and 5d6e7f8a
git show 9fceb02d0ae598e95dc970b74767f19372d61af8:src/a.py
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
image digest python@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
md5 5d41402abc4b2a76b9719d911017c592
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
checksum 3b5d5c3712955042212316173ccf37be
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
order 2024-000183-77 shipped
invoice RE-2024-11873 is paid
JIRA DATA-4821, OPS-77, SEC-1204
tracking number 1Z999AA10123456784
ISBN 978-3-16-148410-0
IBAN DE89 3704 0044 0532 0130 00
call me at +49 30 901820
phone (415) 555-0132 ext. 9
mail ines.almeida@example.com or ops@example.com
2001:0db8:85a3:0000:0000:8a2e:0370:7334
fe80::1ff:fe23:4567:890a%eth0
MAC 00:1A:2B:3C:4D:5E
10.0.0.0/8 via 192.168.1.1
lat 52.520008, lon 13.404954
version 4.18.0-477.10.1.el8_8.x86_64
build 20241103.7+g1a2b3c4
job_2024_11_03T02_00_00Z_9c1f succeeded
dag_run scheduled__2024-11-03T00:00:00+00:00
query id 01b2c3d4-0602-5f3a-0001-9e8b00012345
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
spot i-0abcd1234ef567890 in eu-central-1a
vpc-0a1b2c3d4e5f67890 / subnet-0f1e2d3c4b5a69788
arn:aws:iam::123456789012:role/etl-runner
AC sid and account id are not secret
bucket s3://acme-lake-prod/raw/events/dt=2024-11-03/part-00000-9c1f2a77.snappy.parquet
gs://acme-exports/2024/11/03/orders_000000000001.csv.gz
abfss://raw@acmelake.dfs.core.windows.net/events/
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
doi:10.1145/3292500.3330701
ticket ZD-99123, case 5003X00002abcDE
hex color #1a2b3c and #ffcc00
0xdeadbeef is a magic number
base64 of "hi" is aGk=
CamelCaseIdentifierWithManyWordsInside2024
snake_case_identifier_with_many_words_inside_2024
kebab-case-identifier-with-many-words-inside-2024
# urls
https://docs.example.com/guides/how-to-rotate-your-api-key-without-downtime
https://example.com/blog/2024/11/password-managers-compared
https://host.example.com/sk-something-readable-slug
https://shop.example.com/sk-bratislava-old-town-apartment
https://github.com/acme/platform/pull/4821#discussion_r1573920481
https://github.com/acme/platform/commit/9fceb02d0ae598e95dc970b74767f19372d61af8
https://acme.atlassian.net/browse/DATA-4821
https://console.cloud.google.com/bigquery?project=acme-prod&p=acme&d=raw&t=orders
https://s3.console.aws.amazon.com/s3/buckets/acme-lake-prod?region=eu-central-1&prefix=raw/
https://localhost:8443/auth/realms/main/protocol/openid-connect/token
https://login.microsoftonline.com/common/oauth2/v2.0/token
https://api.example.com/v1/tokens/{id}/revoke
https://example.com/?utm_source=newsletter&utm_campaign=spring_sale_2024
https://www.youtube.com/watch?v=dQw4w9WgXcQ
https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8S9t0UvWx/edit
https://example.com:8080/path/@scope/package
git@github.com:acme/platform.git
ssh://git@github.com:22/acme/platform.git
postgres://db.internal:5432/main
postgresql://app@db.internal/main
redis://cache:6379/0
kafka://broker-1:9092,broker-2:9092
mailto:ops@example.com?subject=Token%20expired
https://example.com/reset-password?lang=de
https://example.com/login?next=/account/password
https://example.com/search?q=token+bucket+algorithm&key=name
http://[::1]:8080/health
https://hooks.slack.com/services/ is where the webhook URLs start
https://discord.com/api/webhooks/ plus id and token
file:///home/ines/projects/onrecord/README.md
C:\Users\ines\AppData\Local\Temp\pass\report.csv
/var/run/secrets/kubernetes.io/serviceaccount/token
/etc/passwd and /etc/shadow are readable only by root
~/.ssh/id_ed25519 is mode 600
# platform-and-ops
dbt run --select +fct_orders failed on the freshness test, rerun at 06:00
Airflow DAG load_orders moved from 02:00 to 03:30 because the ERP export is late on Mondays
The warehouse LOAD_WH is sized M; XL only for backfills after the quarter close
Kafka topic orders.v2 has 24 partitions and keeps 7 days
Snowflake role TRANSFORMER owns schema ANALYTICS, LOADER owns RAW
Retention for raw events: 400 days, then Glacier
p95 latency rose from 120 ms to 340 ms after the 14.2 upgrade
The replica lags 40 s at 02:00 because of vacuum
Rollback: helm rollback onrecord 17 -n prod
On-call hand-over is Tuesday 10:00 CET in #data-ops
Kubernetes 1.29 upgrade planned for week 47
Terraform state is in s3://acme-tf-state/data/prod.tfstate
Prometheus scrapes /metrics every 15 s
Runbook: restart the consumer group, then check lag with kafka-consumer-groups.sh
Dashboards: grafana.example.com/d/aB3dE5fGh/orders-freshness
Backups run at 01:15, restore test first Sunday of the month
Cost of BigQuery rose by 18% since the new dashboard scans orders without partition filter
index bloat on notes_pkey is 2.3x, reindex concurrently on Saturday
Schema registry compatibility is BACKWARD
User agents are parsed with ua-parser 1.0.38
The CSV uses ; as separator and latin-1 encoding
customer_key 0 means unknown customer
Feature flag new_pricing is on for 20% of tenants
The S3 lifecycle rule moves objects to IA after 30 days
max_connections=200, shared_buffers=8GB, work_mem=64MB
retry with exponential backoff: 1s, 2s, 4s, 8s
uptime 99.95 % in October
incident 2024-11-03: disk full on db-3, 12 minutes down
pg_hba.conf uses scram-sha-256 for all hosts
TLS 1.3 only, cipher TLS_AES_256_GCM_SHA384
The load balancer drops idle connections after 350 s
CI takes 11 min; cache key uses hash of uv.lock
python -m pytest -n auto -q finishes in 38 s
Deployed onrecord 0.9.3 to staging at 14:05
vault kv get secret/data/prod/db shows the current lease
Vault path: secret/data/prod/db, key: password
rotate-credentials job runs at 04:00 and writes to Vault
sso: okta group data-engineers maps to role ANALYST
ssh key was added to the bastion for Jonas
The token endpoint returns 401 when the clock skews by more than 60 s
JWT lifetime is 15 minutes, refresh token 30 days
mTLS between collector and gateway; certs from cert-manager
API rate limit is 600 requests per minute per key
# preferences-and-people
The user prefers metric units and ISO dates.
Ines likes short answers with the command first.
Jonas is allergic to peanuts; no nuts at the offsite.
Her favorite editor is Helix, theme gruvbox.
Prefers Polars over pandas for anything above 1 GB
Writes commit messages in English but talks German
Time zone is America/Sao_Paulo
Birthday 14 March, likes dark chocolate
Team lunch on Thursdays 12:30 at Namaste
Reads mail only before 11
Uses a split keyboard and vim keys
Wants charts in Vega-Lite, never pie charts
Call him Bo, not Robert
He drinks coffee black, no sugar
Daughter starts school in September
The customer asked for a French translation
Prefers to be asked before anything is deleted
Flight LH 1873 to Lisbon on 2 May, seat 14C
Hotel booking 8842-113 under Almeida
Parking spot B-117
Likes when unit tests have sentence names
Speaks Portuguese, English and some Polish
Don't schedule calls on Friday afternoons
Budget for the quarter is 45,000 EUR
Secretly he prefers tabs
She keeps a token of every trip
Keynote at 9:00, key people: Ana, Raj
# german
Das Passwort ist im Tresor hinterlegt.
Das Passwort ist falsch.
Passwort vergessen? Bitte an die IT wenden.
Passwort: siehe Tresor
Passwort ist abgelaufen und muss geändert werden
Das Passwort lautet wie gewohnt.
Kennwort bitte alle 90 Tage ändern.
Die Passwörter liegen in Bitwarden.
Der Token ist abgelaufen.
Der API-Schlüssel liegt im Key Vault.
Zugangsdaten gibt es bei Jonas.
Das Geheimnis ist gute Vorbereitung.
Der Ladejob läuft nachts um drei, weil das ERP spät exportiert.
Bitte keine Kreisdiagramme verwenden.
Die Tabelle kunden hat 1,2 Mio. Zeilen.
# romance
le mot de passe est stocké dans le coffre
le mot de passe est obligatoire
mot de passe oublié
mot de passe : voir le coffre
Le mot de passe est expiré.
Le jeton est valable une heure
la contraseña es obligatoria
la contraseña es incorrecta
contraseña: ver la bóveda
La contraseña está en el gestor
olvidé mi contraseña
a senha é obrigatória
a senha está no cofre
senha: ver cofre
esqueci minha senha
la password è scaduta
la password è nel vault
Il cliente preferisce grafici semplici
El lote nocturno tarda cuarenta minutos
La table des commandes est partitionnée par jour
O usuário prefere respostas curtas
# cyrillic
пароль хранится в сейфе
пароль неверный
пароль: см. хранилище
пароль обязателен
Пароль был изменён вчера
забыл пароль от почты
сбросить пароль можно в профиле
пароль должен быть не короче 12 символов
токен истёк
токен обновляется каждый час
ключ от API лежит в Vault
секрет успеха — простота
Ночная выгрузка идёт сорок минут
Пользователь предпочитает короткие ответы
# cjk
密码是必填项
密码错误
密码已过期
忘记密码请联系管理员
密码保存在Vault里
密码：见保险库
密码是定期更换的
请重置密码
令牌已过期
密钥保存在KMS中
用户喜欢简短的回答
订单表按天分区，保留400天
成功的秘密是坚持
パスワードは必須です
パスワードはVaultに保存されています
パスワードを忘れた
パスワードは90日ごとに変更
パスワードが間違っています
パスワード：金庫を参照
トークンは1時間で失効します
APIキーは環境変数から読みます
夜間バッチは40分かかる
利用者は短い答えを好む
비밀번호는 필수입니다
비밀번호는 금고에 있습니다
비밀번호를 잊어버렸습니다
비밀번호가 만료되었습니다
비밀번호: 금고 참조
토큰이 만료되었습니다
API 키는 환경 변수에서 읽습니다
야간 배치는 40분 걸린다
사용자는 짧은 답을 좋아한다
# semitic-indic
كلمة المرور مطلوبة
كلمة المرور محفوظة في الخزنة
نسيت كلمة المرور
انتهت صلاحية الرمز
يفضل المستخدم الإجابات القصيرة
הסיסמה שמורה בכספת
הסיסמה שגויה
שכחתי את הסיסמה
הטוקן פג תוקף
המשתמש מעדיף תשובות קצרות
पासवर्ड गलत है
पासवर्ड तिजोरी में है
पासवर्ड भूल गया
टोकन समाप्त हो गया
उपयोगकर्ता छोटे उत्तर पसंद करता है
रात का काम चालीस मिनट लेता है
# second-english
The password reset mail never arrives for gmail users.
password auth is off on all bastions, keys only
Remember that Ines wants password managers to be mandatory.
The password is shared via Bitwarden, collection "data".
password is the same for all of staging
The password is entered twice.
The password was leaked in 2021 and has been retired.
the password for the replica is managed by the operator
Password: stored in 1Password
Password: required, min 12 chars
password: must not be empty
Our password rule: 14+ characters, 1 symbol
Password hints are forbidden.
password-protected PDF, ask finance
passwords rotate on day 1 of each quarter
Two-factor codes expire after 30 s.
the passcode is on the sticky note
passphrase must have 6 words
please pass "--force" if it hangs
pass 3 of 5 finished in 41 s
pass rate: 97.5%
The boarding pass is in the wallet app.
a pw change is due next week
PW-1234 is the ticket for it
the token is passed in the header
token: see Vault path kv/etl/geocoder
The token is revoked automatically after 24h
token refresh happens at 02:15
Token exchange uses RFC 8693
tokens: 1834 in, 212 out
1 token is about 4 characters
the SEP token separates sentences
access token lifetime 3600
refresh token rotation is on
The API key is in the CI secrets of repo acme/platform
api key for staging: ask Jonas
API key format: 32 hex characters
api_key is a required query parameter
API keys are hashed with SHA-256 before storage
secret is mounted as a file
secret rotation failed for db-credentials-v3
Secret name: prod/etl/db
client_secret is base64 encoded in the request
Secret Manager costs 0.06 USD per version
secret project codename is Bluebird
the secret to fast joins is sorting
credentials: IAM role etl-runner
credentials were rotated on 2024-11-03
creds in Vault
auth: Kerberos
auth = none
authorization: RBAC
Authorization code flow with PKCE
login as postgres, then \l
login: via Okta
key for the map: red = late, green = on time
key to success: tests first
the key for partitioning is event_date
license key: floating, 20 seats
encryption key is held in KMS alias/data
SSH key type ed25519 is preferred
private key never leaves the HSM
master key ceremony is on Monday at 10
session key exchange uses X25519
cookie: strictly necessary only
cookie lifetime 14 days
PIN pad on the second floor is broken
PIN: enter at the terminal
the door code changes monthly
error code: 4711
zip code: 10115
promo code is SUMMER2024
country code = 49
room code: B-117
exit code: 137
code=200 time=31ms
status_code=404
qr code is printed on page 3
2FA backup codes are in the safe
Basic Auth is enabled on the wiki
Basic QWERTY keyboards are fine
Bearer tokens are sent in the header
# second-code-and-config
password = prompt("DB password")
password = config["db"]["password"]
password = Path("/run/secrets/db").read_text()
password = secrets.token_urlsafe(16)
password = vault.read("kv/db")["password"]
password=password or os.environ.get("PGPASSWORD")
"password": process.env.DB_PASSWORD,
"password": "${DB_PASSWORD}",
password: ${env:DB_PASSWORD}
password: "{{ lookup('env', 'DB_PASSWORD') }}"
password: "{{ env_var('DBT_PASSWORD') }}"
password: %env(DB_PASSWORD)%
password: $__env{DB_PASSWORD}
password: <sensitive>
password = (sensitive value)
password = var.db_password
password = random_password.db.result
password = data.aws_secretsmanager_secret_version.db.secret_string
password: !secret db_password
password_command = "pass show db"
passwordSecretRef: name: db-credentials
existingSecret: db-credentials
valueFrom:⏎  secretKeyRef:⏎    name: db⏎    key: password
secretRef: {name: etl-env}
apiKey: process.env.OPENAI_API_KEY!
apiKey: string | undefined
token?: string;
token: Token;
token: JWT
token = jwt.encode(payload, key)
token = parts[1]
token = next(tokens)
token == expected
token_hash = sha256(token)
const token = localStorage.getItem("token");
const apiKey = useContext(ApiKeyContext);
secret: Secret[str]
secret = hmac.new(key, msg, "sha256")
api_key: str = Field(..., min_length=32)
api_key = args.api_key
api_key: Annotated[str, Header()]
def login(user: str, password: str) -> Token:
login(user, password)
client.login(username, password)
createUser({ email, password })
await signIn("credentials", { email, password })
bcrypt.compare(password, user.passwordHash)
assert_eq!(token.kind, TokenKind::Ident);
fn next_token(&mut self) -> Option<Token>
type Token = { kind: string; value: string };
<input name="token" value="{{ csrf_token }}">
$token = $request->bearerToken();
export TOKEN
unset PGPASSWORD
echo $TOKEN | wc -c
echo "$PASSWORD" | docker login --username bob --password-stdin
read -s PASSWORD
curl -u "$ES_USER:$ES_PASS" es:9200
curl -H "Authorization: Bearer $(cat token)" api
docker run -u 1000:1000 img
docker run -e PASSWORD img
tar -xzf x.tgz -C /srv
mysqldump -p shop > shop.sql
git log -p --stat
grep -rn password src/
sed -i 's/password/secret/' config.yml
ALTER USER app VALID UNTIL 'infinity'
SELECT password_changed_at, token_version FROM users
COMMENT ON COLUMN users.token IS 'opaque session token'
CREATE INDEX ON tokens (token_hash)
COPY users (id, email, password) FROM stdin
SHOW PASSWORD POLICIES
key = f"{tenant}:{note_id}"
redis.set(key, value, ex=3600)
cache_key: v3-linux-py311-8f14e45fceea167a5a36dedd4bea2543
s3_key = "raw/2024/11/03/part-0001.parquet"
object key raw/events/2024/11/03/7f3b9c52-3b1e-4d67-9a54-0c6f1de0b8aa.json
etag 9bb58f26192e4ba00f01e2e7b136bbd8-5
"sha": "9fceb02d0ae598e95dc970b74767f19372d61af8",
resolved "https://registry.npmjs.org/ms/-/ms-2.1.3.tgz#574c8138ce1d2b5861f0b44579dbadd60c6615b2"
pip hash --hash=sha256:2cd5df1cc4bba6a3e8a5f2d3f5c5b7f1e4e0d1a6b9c8d7e6f5a4b3c2d1e0f9a8
go.sum: github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=
uuid=7f3b9c52-3b1e-4d67-9a54-0c6f1de0b8aa status=ok
sessionId is a UUID v7
session started at 10:02, ended 10:47
wandb run acme/etl/3kq9x2vb
https://app.example.com/s/3kq9x2vb7hzm
https://www.notion.so/acme/Runbook-8f14e45fceea167a5a36dedd4bea2543
https://figma.com/file/aB3dE5fGh7iJ9kL1mN3oP5/Design?node-id=12%3A34
https://miro.com/app/board/uXjVNabcdEF=/
https://meet.google.com/abc-defg-hij
https://us02web.zoom.us/j/84512345678
https://open.spotify.com/track/4cOdK2wGLETKBW3PvgPWqT
# second-elsewhere
Das Passwort für die Datenbank liegt in Vault.
Passwort ändern: Profil > Sicherheit
Passwort muss 14 Zeichen haben, davon 2 Ziffern
Kennwort läuft am 03.11.2024 ab
Der Schlüssel liegt unter der Matte.
Der Schlüssel zum Erfolg: Geduld
Schlüssel der Tabelle ist kunden_id
le mot de passe doit contenir 12 caractères
mot de passe expiré le 03/11/2024
la clé est sous le paillasson
la clé primaire est (client_id, jour)
clave primaria: pedido_id
la clave del éxito es la paciencia
la contraseña caduca el 3/11/2024
la contraseña debe tener 12 caracteres
a chave primária é pedido_id
a senha expira em 90 dias
La password scade ogni 90 giorni.
hasło musi mieć 12 znaków
wachtwoord vergeten? bel de helpdesk
пароль меняется каждые 90 дней
пароль от почты знает только Ира
ключ таблицы — order_id
ключ партиции: dt
токен живёт 15 минут
密码长度至少12位
密码每90天更换一次
密钥轮换在每月1号
主键是order_id
令牌有效期3600秒
パスワードは12文字以上
キーはorder_idです
主キー：order_id
トークンの有効期限は15分
비밀번호는 12자 이상이어야 합니다
키는 order_id 입니다
토큰 유효기간은 15분
كلمة المرور يجب أن تتكون من 12 حرفا
הסיסמה חייבת להכיל 12 תווים
पासवर्ड कम से कम 12 अक्षर का हो
# third-chat
can you reset my password please?
The customer forgot the SFTP password, ticket OPS-1182
I changed my password yesterday evening
Jonas has the password
I'd rather not type the password every time
the password field must be masked
password prompts appear twice on macOS 14.5
Password fields use type=password
the password expires in 12 days
password is valid until 2025-01-31
password entropy should be above 80 bits
Use a password manager such as 1Password or KeePassXC.
password was fine, the account was locked after 5 tries
Password is printed on page 2 of the contract
the password is different on prod
The password is longer than 20 characters.
Password is case sensitive!
the password is empty by default
Password: (none)
Password: unchanged
Password: to be defined
Password: TBD
password: same as staging
pass it on to Ines
pass/fail: pass
two passes over the data, 12 min each
tokens are counted with tiktoken cl100k_base
The token count for gpt-4o is 1.3 per word
token budget 8k per answer
The token was rejected with 401
use your personal token
Token: expired
Get a token from https://id.example.com/settings/tokens
the secret is called etl-db-prod
secret etl-db-prod was updated on 3 Nov
The secret lives in namespace data
keep it secret, keep it safe
secret key rotation every 90 days
API key: ask in #platform
API key is valid for 1 year
API key starts with rk_
The key is under the doormat at house 14b
key figures 2024: revenue 12.4M, churn 3.1%
key: order_id, value: JSON
The key column is order_id (int8)
Natural key is (source_system, source_id)
Key Vault kv-dw-prod-weu-01
SSH key of Jonas expires 2025-03
Account key figures are in sheet 3
service key users: finance, sales
session notes from 3 Nov: agreed on v2.3
client key contact is Ms. Brandt
login works with SSO since v4.2
login page: https://id.example.com/login
credentials are per environment
credential rotation: quarterly
auth: OAuth2 client credentials
authorization matrix v3 is in Confluence
Bearer auth only over TLS 1.2+
cookie banner v2 goes live on 2024-12-01
The PIN was sent by post.
code: see repo acme/etl
code review for PR 4821 is open
door code: ask reception
his card number ends in 4242
room 4711, floor 3
Order 4500123987 is delayed
SAP client 100, system PRD
customer number 0010023987
batch 20241103_0200 loaded 1,204,331 rows
the hash of row 17 is 0x9f86d081
row_hash = md5(concat_ws('|', a, b))
dedupe key = sha256(tenant || source || id)
git describe says v2.3.1-14-g9fceb02
image tag 2024.11.3-9fceb02d0ae5
chart version 15.5.38, app version 16.4.0
request id req_011CTk8Wn3xY2bq7 failed with 429
run_id manual__2024-11-03T10:15:00+00:00
message id <CAF5Qm2b1xK7=abc@mail.example.com>
arn:aws:s3:::acme-lake-prod/raw/*
projects/acme-prod/secrets/etl-db/versions/7
subscription 7f3b9c52-3b1e-4d67-9a54-0c6f1de0b8aa is for dev
tenant id 7f3b9c52-3b1e-4d67-9a54-0c6f1de0b8aa
workspace 1234567890123456 in Databricks
warehouse id 8f14e45fceea167a
dashboard uid aB3dE5fGh
Looker dashboard 1187, tile 4
Tableau site acme, project Finance 2024
spreadsheet 1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8S9t0UvWx, tab Input
# third-code
password_regex = r"^(?=.*\d)(?=.*[a-z]).{8,}$"
password = getenv("PW") or sys.exit("PW missing")
password = generate_password(length=20)
password_input.send_keys(password)
{"password": "***", "user": "app"}
{"password": "<redacted>", "token": "<redacted>"}
{"error": "invalid_token", "error_description": "The token expired"}
{"detail": "Incorrect username or password"}
{"type": "password", "label": "Password"}
{"token_type": "bearer", "expires_in": 3600}
{"key": "order_id", "op": "eq", "value": 42}
{"api_key_name": "etl", "created": "2024-11-03"}
"required": ["user", "password"]
required: [user, password, token]
description: The password of the database user
password: {type: string, format: password}
token_url: https://id.example.com/oauth/token
api_key_env: ACME_API_KEY
api_key_header: X-Api-Key
secret_backend: vault
secrets: [db_password, api_key]
secrets: inherit
with: token: ${{ github.token }}
env_file: .env.prod
if not token: raise Unauthorized
if token.type == "NAME": return token.value
tok = tokens[i + 1]
while token := lexer.next(): pass
pass  # nothing to do
except KeyError: pass
print("Password:", end="")
getpass.getpass("Password for %s: " % user)
assert response.json()["token"]
monkeypatch.setenv("API_KEY", "")
SELECT * FROM pg_shadow WHERE passwd IS NOT NULL
CREATE ROLE app LOGIN PASSWORD NULL;
\password app
psql -U app -W
pg_dump --no-password main
ssh-keygen -y -f ~/.ssh/id_ed25519
openssl rand -hex 32
openssl x509 -noout -text -in cert.pem
curl -u $USER https://jira.example.com
export AWS_PROFILE=prod
aws sts get-session-token --duration-seconds 3600
aws secretsmanager get-secret-value --secret-id prod/etl/db
gcloud auth print-identity-token
gcloud secrets versions access latest --secret=etl-db
vault token lookup
vault write auth/approle/login role_id=etl
kubectl -n data get secret etl-db -o jsonpath='{.data.password}' | base64 -d
az keyvault secret show --name etl-db --vault-name kv-dw-prod
op read "op://data/etl-db/password"
dbt debug --profiles-dir .
terraform output -raw db_password
# third-elsewhere
Das Passwort kennt nur Jonas.
Das Passwort wurde am 3. November geändert.
Passwort zurücksetzen: Link ist 30 Minuten gültig
Bitte Passwort nie per Mail senden!
Der Token läuft nach 15 Minuten ab.
Zugangsdaten: siehe Confluence
le mot de passe a été changé le 3 novembre
le mot de passe est dans Bitwarden
la contraseña se cambia cada 90 días
la contraseña está en Bitwarden
a senha foi alterada em 3/11
пароль в Bitwarden
пароль поменяли 3 ноября
пароль нужен только для VPN
密码在Bitwarden里
密码已于11月3日修改
密码由运维管理
パスワードはBitwardenにあります
パスワードは11月3日に変更しました
비밀번호는 Bitwarden에 있어요
비밀번호를 11월 3일에 바꿨다
كلمة المرور في Bitwarden
הסיסמה ב-Bitwarden
पासवर्ड Bitwarden में है
"""

# ---- written after the rules were finished -------------------------------------------------------------
HELD_OUT = r"""
# said password
Our SFTP account at the bank is acme42 and the password is ⟦⟧
Password for user report_ro on pg-replica: ⟦⟧
the wifi password in meeting room 3 is ⟦⟧
Just use the password ⟦⟧ for now
I set the Grafana password to ⟦⟧
the admin password is now ⟦⟧ (was changed on Monday)
passwd for the jump host: ⟦⟧
password: ⟦⟧, user: etl
user: etl, password: ⟦⟧
Username etl Password ⟦⟧
root password of db-3 = ⟦⟧
For the portal: customer no. 4711, password ⟦⟧
the decryption password is '⟦⟧'
password "⟦⟧" still works on staging
Keepass master password: ⟦⟧
their password was ⟦⟧ before the migration
the archive password should be ⟦⟧
her laptop pw is ⟦⟧
PW: ⟦⟧ / user: bob
pwd: ⟦⟧
Passcode for the meeting: ⟦⟧
passphrase = ⟦⟧
# configured password
DATABASE_PASSWORD=⟦⟧
DB_PWD="⟦⟧"
export MYSQL_PWD=⟦⟧
ELASTIC_PASSWORD: ⟦⟧
admin_password = "⟦⟧"
{"host":"pg1","password":"⟦⟧"}
{"db": {"user": "app", "pwd": "⟦⟧"}}
psycopg2.connect("dbname=dw user=app password=⟦⟧ host=pg1")
create_engine("postgresql://app:⟦⟧@pg1:5432/dw")
mongodb://root:⟦⟧@mongo:27017/admin?authSource=admin
https://ci:⟦⟧@nexus.acme.io/repository/pypi/simple
amqps://svc:⟦⟧@b-1.mq.eu-central-1.amazonaws.com:5671
sftp://acme42:⟦⟧@sftp.bank.example/in
jdbc:mysql://db1/shop?user=app&password=⟦⟧
Server=sql1;Database=dw;User Id=etl;Password=⟦⟧;TrustServerCertificate=true
ALTER USER etl WITH PASSWORD '⟦⟧';
CREATE USER report IDENTIFIED BY '⟦⟧';
curl -u etl:⟦⟧ https://nexus.acme.io/v1/status
tool connect --user etl --password ⟦⟧ --host pg1
mysql -uetl -p⟦⟧ -h db1 shop
machine nexus.acme.io login ci password ⟦⟧
password: "⟦⟧" # rotate me
  password: ⟦⟧  # TODO move to vault
const DB_PASS = "⟦⟧";
this.password = "⟦⟧";
val password = "⟦⟧"
<password>⟦⟧</password>
--from-literal=db-password=⟦⟧
# keyed opaque
Authorization: Bearer ⟦⟧
curl -H "Authorization: Token ⟦⟧" https://api.acme.io/v1/jobs
the bearer token is ⟦⟧
API key: ⟦⟧
api key ⟦⟧
our API key for geocoding is ⟦⟧
ACME_API_KEY=⟦⟧
ACME_SECRET=⟦⟧
ACME_TOKEN: ⟦⟧
"access_token": "⟦⟧"
"refresh_token":"⟦⟧"
"secret_key": "⟦⟧"
secret: ⟦⟧
client_secret: ⟦⟧
token ⟦⟧
Token: ⟦⟧
token=⟦⟧
--token=⟦⟧
--api-key ⟦⟧
X-API-KEY: ⟦⟧
https://api.acme.io/v1/orders?token=⟦⟧
https://api.acme.io/v1/orders?since=2024-11-03&apikey=⟦⟧
access key ⟦⟧
the signing key is ⟦⟧
JWT secret: ⟦⟧
Deploy token for the wheel registry: ⟦⟧
PAT for Azure DevOps: ⟦⟧
service account key: ⟦⟧
SESSION_SECRET=⟦⟧
COOKIE_SECRET: "⟦⟧"
hmac_key = "⟦⟧"
AES key: ⟦⟧
encryption_key: ⟦⟧
Cookie: sessionid=⟦⟧
# elsewhere mixed
Das Passwort für den FTP-Zugang ist ⟦⟧.
Passwort lautet ⟦⟧
Passwort für Ines: ⟦⟧
Mein Passwort ist ⟦⟧
mot de passe: ⟦⟧
Le mot de passe du VPN est ⟦⟧.
mon mot de passe est ⟦⟧
contraseña = ⟦⟧
mi contraseña es ⟦⟧
La contraseña de la base de datos es: ⟦⟧
minha senha é ⟦⟧
senha: ⟦⟧
la mia password è ⟦⟧
mijn wachtwoord is ⟦⟧
hasło: ⟦⟧
мой пароль: ⟦⟧
пароль от базы ⟦⟧
Пароль от VPN — ⟦⟧
пароль: «⟦⟧»
我的密码是⟦⟧
密码: ⟦⟧
VPN密码是⟦⟧，账号是ines
登录密码为⟦⟧
私のパスワードは⟦⟧です
パスワードは「⟦⟧」
VPNのパスワード：⟦⟧
내 비밀번호는 ⟦⟧
비밀번호는 ⟦⟧입니다.
كلمة المرور: ⟦⟧
كلمة مرور الخادم هي ⟦⟧
הסיסמה שלי היא ⟦⟧
मेरा पासवर्ड ⟦⟧ है
"""

HELD_OUT_ORDINARY = r"""
# talk
The password must never be logged.
password rotation is done by Vault agent
the password is set by the DBA
The password is checked against haveibeenpwned
password is fetched at start-up
password not needed with IAM auth
We store the password hash, not the password.
No password is stored on disk.
Password is still the factory default
The password is on its way
Password: ask the on-call engineer
Password: via SSO
the password for pg-replica is the one for pg-main
password for the trial ends on Friday
Ines prefers passphrases
passphrase required at boot
Passcode is shown on the screen
Token is refreshed 5 minutes before expiry
token scope: read:orders
token has 3 parts separated by dots
the token is in the Authorization header
The API key is rotated by Terraform
an API key is required for /v2
API key? ask Raj
API keys: 12 active, 3 revoked
secret is synced from Vault every 60 s
secret: etl-db (namespace data)
The secret is versioned
client secret is required
client credentials flow
signing key rotates yearly
encryption key lives in KMS
access key was deleted on 2024-10-01
deploy key is read-only
service account key files are banned since 2023-06
private key file mode is 0600
session secret is generated at start
Bearer is the only scheme we accept
cookie is HttpOnly and Secure
credentials expire after 12h
login with your acme.io account
log in as admin, then open Settings > Users
user admin can read all tenants
admin/users is the page
root/home/tmp are separate volumes
The PIN is 4 digits long
code is in src/onrecord
code: 200 OK
# data
orders.v2 has key order_id and value JSON
token,count⏎password,31⏎secret,12
column password is dropped in migration 0042_drop_password
field "token" is nullable
users(id, email, password_hash, created_at)
password VARCHAR(255) NOT NULL
token TEXT UNIQUE
api_key CHAR(32)
SELECT email FROM users WHERE password_hash = crypt('x', password_hash)
INSERT INTO settings VALUES ('password_min_length', '12')
UPDATE api_keys SET revoked_at = now() WHERE id = 17
grant type password is disabled
dbt snapshot key: unique_key='order_id'
{{ config(unique_key='order_id', incremental_strategy='merge') }}
cluster by (tenant_id, created_at)
file sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
crc32 3610a686, md5 5d41402abc4b2a76b9719d911017c592
commit e83c5163316f89bfbde7d9ab23ca2e25604af290 was the first one
ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV
KSUID 0ujsswThIGTUYm2K8FjOOfXtY1K
nanoid V1StGXR8_Z5jdHi6B-myT
mongo _id 507f1f77bcf86cd799439011
snowflake id 1541815603606036480
stripe customer cus_NffrFeUfNV2Hib, invoice in_1MtHbELkdIwHu7ixl4OzzPMv
stripe price price_1MoBy5LkdIwHu7ixZhnattbh
publishable keys start with pk_live_
sentry event 9c1f2a773b1e4d679a540c6f1de0b8aa
datadog trace 4bf92f3577b34da6
airflow dag_id load_orders__v2, task extract_orders
s3://acme-lake/raw/orders/year=2024/month=11/day=03/9c1f2a77.parquet
https://acme.looker.com/dashboards/1187?Date=7+days
https://grafana.acme.io/d/aB3dE5fGh/orders?from=now-6h&to=now&var-env=prod
https://console.aws.amazon.com/cloudwatch/home?region=eu-central-1#logsV2:log-groups/log-group/$252Faws$252Flambda
https://github.com/acme/etl/actions/runs/11650345678/job/32437654321
https://acme.slack.com/archives/C012AB3CD/p1730622000123456
https://docs.python.org/3/library/secrets.html#secrets.token_bytes
registry.acme.io/etl@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
ghcr.io/acme/etl:sha-e83c516
sk-learn-contrib/imbalanced-learn
rk-3399 board, sk-8822 keyboard
pk-orders-2024 is the constraint name
# elsewhere
Das Passwort muss geändert werden.
Mein Passwort ist zu kurz.
Passwort ist überall gleich
Das Passwort lautet wie immer
mon mot de passe est trop court
le mot de passe est incorrect
mi contraseña es muy corta
la contraseña es la misma
minha senha é muito curta
la mia password è scaduta ieri
мой пароль слишком короткий
пароль тот же
我的密码太短了
密码与用户名相同
パスワードが短すぎます
パスワードは同じです
비밀번호가 너무 짧아요
비밀번호는 같습니다
كلمة المرور قصيرة جدا
הסיסמה קצרה מדי
पासवर्ड बहुत छोटा है
"""


def unfold(line: str) -> str:
    """Turn the one-line notation into the text meant: ⏎ is a newline, ¦ keeps prefixes from looking real."""
    return line.replace("⏎", "\n").replace("¦", "")


def sections(block: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, line) of a block whose headings start with '# '."""
    heading = ""
    for line in block.strip("\n").split("\n"):
        if line.startswith("# "):
            heading = line[2:]
        else:
            yield heading, unfold(line)


def token_cases(r: random.Random, frames_each: int) -> Iterator[Case]:
    for category, make in SHAPES:
        for script, frame in r.sample(FRAMES, frames_each):
            before, after = frame.replace("{{", "{").replace("}}", "}").split("{}")
            yield Case(f"token/{category}|{script}", before, make(r), after)


def context_cases(block: str, r: random.Random, each: int) -> Iterator[Case]:
    for heading, line in sections(block):
        category, maker = heading.split(" ")
        before, after = line.split("⟦⟧")
        for _ in range(each):
            yield Case(f"context/{category}", before, MAKERS[maker](r), after)


@dataclass(frozen=True, slots=True)
class Verdict:
    found: bool  # nothing recognisable of the secret is left
    exact: bool  # and everything around it is untouched


def shared(left: str, right: str) -> int:
    """Length of the common beginning."""
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )


def judge(case: Case) -> Verdict:
    out = scrub(case.text).text
    lead = shared(out, case.before)
    trail = shared(out[lead:][::-1], case.after[::-1])
    middle = out[lead : len(out) - trail]
    left = PLACEHOLDER.sub("", middle)
    width = min(8, len(case.secret) // 2 + 1)
    windows = (case.secret[i : i + width] for i in range(len(case.secret) - width + 1))
    found = middle != left and not any(window in left for window in windows)
    return Verdict(found, found and not left and lead == len(case.before) and trail == len(case.after))


def microseconds(texts: list[str], repeat: int) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repeat):
            for text in texts:
                scrub(text)
        best = min(best, time.perf_counter() - start)
    return best / (repeat * len(texts)) * 1e6


RUSSIAN = (
    "Ночная загрузка заказов перенесена, потому что выгрузка старой системы по понедельникам опаздывает, " * 2
)


def speed(cases: list[Case]) -> dict[str, float]:
    forty = (
        "The nightly load of orders moved to half past three because the export of the old system is late on "
    )
    forty += "Mondays and the team wants one clean run before the finance people open their charts at nine and ask "
    forty += "about yesterday"
    notes = [note for block in (ORDINARY, HELD_OUT_ORDINARY) for _, note in sections(block)]
    return {
        "plain note of 40 words": microseconds([forty], 2000),
        "ordinary notes of this file": microseconds(notes, 3),
        "texts with secrets of this file": microseconds([case.text for case in cases], 1),
        "plain Russian note": microseconds([RUSSIAN], 2000),
        "plain note with a URL": microseconds(
            [forty.replace("half past three", "https://a.example.com/docs/x")], 500
        ),
        "64 KiB of plain notes": microseconds([(forty + ". ") * (65536 // (len(forty) + 2))], 1),
        "64 KiB of password talk": microseconds(
            ["the password is rotated, the token count is high. " * 1310], 1
        ),
    }


def measure(seed: int) -> dict[str, object]:
    r = random.Random(seed)
    tuned = [*token_cases(r, 5), *context_cases(CONTEXT, r, 2)]
    held_out = list(context_cases(HELD_OUT, r, 2))
    report: dict[str, object] = {}
    for name, cases in (("tuned", tuned), ("held-out", held_out)):
        verdicts = [(case, judge(case)) for case in cases]
        by_category: dict[str, list[bool]] = defaultdict(list)
        for case, verdict in verdicts:
            for label in case.category.split("|"):
                by_category[label].append(verdict.found)
        report[name] = {
            "secrets": len(cases),
            "found": sum(v.found for _, v in verdicts),
            "exact": sum(v.exact for _, v in verdicts),
            "categories": {k: [sum(v), len(v)] for k, v in sorted(by_category.items())},
            "misses": [[c.category, c.text, scrub(c.text).text] for c, v in verdicts if not v.found],
            "inexact": [
                [c.category, c.text, scrub(c.text).text] for c, v in verdicts if v.found and not v.exact
            ],
        }
    for name, block in (("ordinary", ORDINARY), ("held-out ordinary", HELD_OUT_ORDINARY)):
        notes = list(sections(block))
        alarms = [[h, n, scrub(n).text] for h, n in notes if scrub(n).found]
        report[name] = {"notes": len(notes), "false alarms": len(alarms), "alarms": alarms}
    report["microseconds"] = speed(tuned)
    return report


def show(report: dict[str, object]) -> None:
    for name in ("tuned", "held-out"):
        part = report[name]
        assert isinstance(part, dict)
        total = max(part["secrets"], 1)
        print(f"\n{name}: {part['found']}/{part['secrets']} found ({part['found'] / total:.1%}), ", end="")
        print(f"{part['exact'] / total:.1%} with the surroundings untouched")
        for category, (found, count) in part["categories"].items():
            print(f"  {category:32} {found:4}/{count:<4}{'' if found == count else '  <-- misses'}")
        for kind in ("misses", "inexact"):
            for category, text, out in part[kind]:
                print(f"  {kind}: {category}: {text[:160]!r} -> {out[:160]!r}")
    for name in ("ordinary", "held-out ordinary"):
        part = report[name]
        assert isinstance(part, dict)
        print(f"\n{name} notes: {part['false alarms']} false alarms in {part['notes']}")
        for heading, note, out in part["alarms"]:
            print(f"  alarm: {heading}: {note!r} -> {out!r}")
    timings = report["microseconds"]
    assert isinstance(timings, dict)
    print()
    for name, value in timings.items():
        print(f"{name:34} {value:10.1f} us")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the secret scrubber.")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--seed", type=int, default=20241103)
    options = parser.parse_args()
    report = measure(options.seed)
    if options.json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        show(report)


if __name__ == "__main__":
    main()
