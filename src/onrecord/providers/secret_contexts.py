"""WHAT gives a secret away that has no shape of its own? The keys, links, headers, commands and sentences around it.

Every part of a pattern is bounded, so that trying it at an anchor costs at most a constant.
"""

from __future__ import annotations

import re

from onrecord.providers import secret_values as judge
from onrecord.providers.secret_rules import SecretRule
from onrecord.providers.secret_values import Judge

# ---- values ----------------------------------------------------------------------------------------------
_LETTERS = (
    "A-Za-z0-9£§°µ€À-ʯͰ-ӿ"  # scripts that separate words by spaces; a Chinese letter ends an unquoted value
)
# Twelve stretches of at most 48 characters: the engine follows longer values to their end, and cuts closing marks.
_UNQUOTED = (
    rf"((?:[{_LETTERS}!#$%()*+\-./:=?@\[\]^_{{}}~]{{1,48}}+"
    rf"|,(?=[{_LETTERS}!#$%*])(?!\w{{1,30}}[ ]?[=:])|&(?![\w.-]{{1,40}}=|\w{{1,8}};)|\\(?![nrt\"'\\])){{1,12}}+)"
)
_QUOTED = (
    r"""[rbfuNL@$]{0,2}(?:\\"([^"\n]{1,512}?)\\"|"((?:[^"\\\n]|\\.){1,512})"|'((?:[^'\\\n]|\\.){1,512})'"""
    r"""|`([^`\n]{1,512})`|[“„«「『‹‘][ \u00a0]?([^”“»」』›’\n]{1,512}?)[ \u00a0]?[”“»」』›’])"""
)
_VALUE = rf"(?:{_QUOTED}|(?:[\"'`](?![\"'`])|\*{{1,2}}|\()?{_UNQUOTED})"
# Where words may come between key and value (пароль от базы — ...), the value must show that it is none of them.
_EVIDENT = r"(?=[\"'`“„«‹‘]|[^\s\"'`]{0,64}?[0-9!@#$%^&*+=~])"

# ---- what links a key to its value -----------------------------------------------------------------------
_SUFFIX = (
    r"s?(?:[_-](?:prod|production|dev|stage|staging|test|live|base|value|b64|base64|main|primary|secondary|old|new"
    r"|\d{1,3})|\d{1,3})?(?![A-Za-z0-9_]|-[A-Za-z])"
)
_CLOSE = r"(?:\\?[\"'`]|\*{1,2}|[\])}]|</\w{1,8}>){0,3}"
_WHOSE = (
    r"(?:[ \t](?:for|of|to|on|at|in|from|used|de|del|des|du|do|da|für|von|zum|zur|der|we|they|you|that|which|i)[ \t]"
    r"(?:[^\n:=.;?!]|\.(?=\w)){1,60}?|[ \t]?\([^()\n]{1,40}\))?"
)
_TYPE = r"[ \t]?:[ \t]?&?(?:'static )?(?:str|string|String|Optional\[str\]|str \| None|SecretStr|char\*?|Secret)[ \t]?=[ \t]?"
_ASSIGN = (
    r"(?:,?\s{1,24}[\"']?value[\"']?[ \t]?[:=][ \t]?|</\w{1,8}>\s{0,8}<\w{1,8}>"
    r"|[ \t]?\{[^{}]{0,160}?default[ \t]{0,8}=[ \t]{0,8}"
    rf"|{_TYPE}|[ \t]{{0,16}}(?::=|=>|->|→|⇒|={{1,3}}|:|：|＝|(?<=[ ])\|(?=[ ]))[ \t]{{0,16}}(?:\*{{1,2}}[ \t]|</\w{{1,8}}>[ \t]?)?"
    r"|\([ \t]?(?=[\"']))"
    r"(?:[A-Za-z_.:]{1,30}\((?=[\"'])|[\w.()\[\]\"']{1,60}[ ](?:\|\||\?\?|or)[ ](?=[\"']))?"
)
_SAYS = (
    r"(?:(?:'s|’s)|(?:[ \t](?:has[ \t])?(?:changed|expired))?,?[ \t]it(?:'s|’s|[ \t]is)"
    r"|[ \t](?:(?:has[ \t]been|had[ \t]been|have[ \t]been|is|was|were|got|gets)[ \t])?(?:now[ \t]|just[ \t])?"
    r"(?:changed|set|reset|updated|switched)[ \t](?:back[ \t])?to|[ \t]?[-–—]"
    r"|[ \t](?:is|was|are|will[ \t]be|should[ \t]be|being|equals|stays|remains)"
    r"(?:[ \t](?:now|currently|still|always|just|simply))?)[ \t]{0,2}[:=]?[ \t]{1,4}"
)
_ELSEWHERE_IS = r"[ \t](?:ist|lautet|est|es|è|é|är|er|jest|je)[ \t:]{1,3}"
# "API key generated: ...", but not "API key id: ..."
_STATED = (
    r"(?:[ \t](?!(?:id|ids|name|version|hash|arn|path|prefix|type|length|format|policy|fingerprint)(?![a-z]))[a-z]{2,12})"
    r"{1,2}[ \t]?[:=][ \t]{1,2}"
)
_NEXT_LINE = r"[ \t]{0,4}:?[ \t]{0,4}\r?\n[ \t]{0,12}"
_ALONE = r"(?=[ \t]{0,8}(?:[\r\n]|\Z))"
_SPACED = (
    r"(?=[\s:=：—–«])(?:[ \t]{1,2}[^\s\d\"'`“«:：=＝—–→,;.!?|/]{1,20}){0,7}?[ \t]{0,2}(?:[:：=＝—–→-]{1,2}>?)?[ \t\u00a0]{0,3}"
    + _EVIDENT
    + _VALUE
)
_UNSPACED_LINK = r"[ \t]?(?:是|为|は|が|는|은)[ \t]{0,2}[:：]?[ \t]{0,2}"
_UNSPACED = (
    r"[ \t]?(?:是|为|為|设为|設為|设置为|改为|改成|改成了|更新为|就是|คือ|は|が|を|는|은|이|가)?[ \t]{0,2}[:：=＝→]?[ \t]{0,2}"
    + _VALUE
)

# ---- keys ------------------------------------------------------------------------------------------------
_PASSWORD_NOUN = (
    r"(?:pass(?:word|wd|phrase|code|wrd)|(?:(?<![A-Za-z])(?<!\$\()|(?-i:(?<=[a-z])(?=P))|(?<=root)|(?<=bind))"
    r"(?:pwd|pw|p/w|psw|psk)|(?:(?<=store)|(?<=key)|(?<=require)|(?<=_)|(?<=my[ ])|(?<=our[ ])|(?<=his[ ])|(?<=her[ ])"
    r"|(?<=your[ ])|(?<=user[ ])|(?<=root[ ])|(?<=admin[ ]))pass)(?:-nya)?"
) + _SUFFIX
# `pass` is a verb as well, so it needs a sign of assignment behind it.
_PASSWORD_KEY = (
    r"(?:pass(?:word|wd|phrase|code|wrd)|(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=P))|(?<=store)|(?<=key)|(?<=require)"
    r"|(?<=db)|(?<=user)|(?<=mail)|(?<=smtp)|(?<=admin))pass"
    r"|(?:(?<![A-Za-z])(?<!\$\()|(?-i:(?<=[a-z])(?=P))|(?<=root)|(?<=bind))(?:pwd|pw|p/w|psw|psk))"
) + _SUFFIX
_SECRET_KEY = r"(?<![0-9*}]:)secret(?:[ _.-]?(?:access[ _.-]?)?key)?(?:[_-]?base)?" + _SUFFIX
_TOKEN_KEY = r"(?:(?<!publickey)(?<!tik)token|bearer|(?-i:(?<![A-Za-z])PAT))" + _SUFFIX
_CRED_KEY = r"(?:(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z])(?=C)))cred(?:ential)?s?|_auth(?:token)?|authtoken)(?![A-Za-z0-9_-])"
# `key` alone is an ordinary word; one of these before it makes it a credential.
_KEY_OWNERS = """
    api access secret private auth account encryption encrypt signing sign master service shared sharedaccess app
    admin application storage subscription license licence deploy preshared consumer client functions routing ingest
    write server integration function instrumentation session cookie webhook global live staging prod project mistral
    cohere openai anthropic gemini datadog dd sendgrid stripe groq algolia mailgun twilio openweather cloudflare
    pagerduty segment mixpanel amplitude airtable maps google azure deepl newrelic honeycomb sentry statsig posthog
    launchdarkly tmdb fernet hmac aes my our your new use using aws kaggle github gitlab slack discord telegram notion figma linear jira zendesk hubspot shopify mapbox
    finnhub polygon coinbase binance kraken plaid snyk sonar docker npm pypi heroku vercel netlify render supabase
    pinecone weaviate qdrant elastic replicate together perplexity tavily serpapi firecrawl langsmith wandb dbt fivetran
    airbyte hightouch snowflake databricks grafana opsgenie mailchimp brevo postmark resend intercom asana trello clickup
    spotify youtube twitch steam
    """.split()
_API_KEY = "(?:" + "|".join(rf"(?<={owner})|(?<={owner}[ _.-])" for owner in _KEY_OWNERS) + ")key" + _SUFFIX
_SPACED_PASSWORD = (
    r"(?:passwort|kennwort|mot[ ]de[ ]passe|mdp|contraseña|contrasena|clave|senha|palavra-passe|parola(?:[ ]d'ordine)?+"
    r"|wachtwoord|hasło|heslo|lösenord(?:et)?|adgangskode|passord|salasana|şifre\w{0,4}|sifre\w{0,4}|jelszó|mật[ ]khẩu"
    r"|kata[ ]sandi\w{0,3}|парол[ьяюе]|пасс|лозинка|κωδικός|كلمة[ ](?:المرور|السر|مرور|سر)|رمز[ ]عبور|الباسورد|סיסמ[האת]|पासवर्ड"
    r"|la[ ]password)"
)
_SPACED_PASSWORD_ANCHORS = (
    "passwort|kennwort|mot de passe|mdp|contrase|clave|senha|palavra-passe|parola|wachtwoord|hasło|heslo"
    "|lösenord|adgangskode|passord|salasana|şifre|sifre|jelszó|mật khẩu|kata sandi|парол|пасс|лозинка|κωδικός"
    "|كلمة |رمز |الباسورد|סיסמ|पासवर्ड|la password"
)
_UNSPACED_PASSWORD = "รหัสผ่าน|密码|密碼|口令|パスワード|パス|暗証番号|비밀번호|비번|암호|패스워드"
_SPACED_KEY = (
    r"(?:schlüssel|clé(?:[ ](?:d['’])?api)?|chave|ключ[а-я]{0,2}|токен[а-я]{0,2}|секрет(?:ный[ ]ключ)?|مفتاح|jeton"
    r"|टोकन|מפתח)"
)
_SPACED_KEY_ANCHORS = "schlüssel|clé|chave|ключ|токен|секрет|مفتاح|jeton|टोकन|מפתח"
_UNSPACED_KEY = "密钥|密鑰|令牌|キー|トークン|키|토큰"
_PASSWORD_ANCHORS = "pass|pwd|pw|p/w|psw|psk"
_CLI_TOOL_ANCHORS = (
    "sshpass|docker login|podman login|az login|helm registry login|mongo|redis-cli|sqlcmd|unzip|7z |openssl|beeline"
    "|ssh-keygen"
)
_BASE64 = r"([A-Za-z0-9+/]{8,512}={0,2})"
_PEM_END = r"-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----"


def _context(name: str, anchors: str, pattern: str, accept: Judge, scan: bool = False) -> SecretRule:
    """A rule for a secret that its surroundings give away. `|` separates the anchors, because some contain spaces."""
    return SecretRule(name, tuple(anchors.split("|")), pattern, accept, scan, re.IGNORECASE)


def _keyed(name: str, anchors: str, key: str) -> tuple[SecretRule, ...]:
    """A rule for a machine-made value after its key: assigned, in a sentence, or on the next line."""
    says = (
        f"(?:{_SAYS}|{_STATED}|{_ELSEWHERE_IS}|[ \\t]{{1,4}}(?:to[ \\t])?|[ \\t]?,[ \\t]{{0,12}}(?=[\"'])|>)"
    )
    return (
        _context(name, anchors, key + _CLOSE + _WHOSE + _ASSIGN + _VALUE, judge.is_opaque),
        _context(name, anchors, key + _CLOSE + _WHOSE + says + _VALUE, judge.is_token),
        _context(name, anchors, key + _CLOSE + _NEXT_LINE + _UNQUOTED + _ALONE, judge.is_token),
    )


# Their values are long, so these share the quick test of the tokens that name themselves.
LONG_CONTEXT_RULES: tuple[SecretRule, ...] = (
    _context(
        "private-key",
        '"kty"',
        r'"kty"[^{}]{1,4000}?"(?:d|k)"\s?:\s?"([A-Za-z0-9_-]{20,1024})"',
        judge.is_varied,
    ),
    _context(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,512})",
        judge.is_varied,
    ),
    _context(
        "discord-webhook",
        "/api/webhooks/",
        r"/api/webhooks/(\d{15,20}/[A-Za-z0-9_-]{40,512})",
        judge.is_varied,
    ),
    _context(
        "teams-webhook",
        "office.com/webhook",
        r"office\.com/webhook(?:b2)?/([A-Za-z0-9@/-]{60,512})",
        judge.is_varied,
    ),
    _context(
        "zapier-webhook",
        "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/catch/(\d{3,12}/[A-Za-z0-9]{5,32})",
        judge.is_varied,
    ),
    _context(
        "azure-key",
        "accountkey=|sharedaccesskey=",
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,128}={0,2})",
        judge.is_varied,
    ),
    _context(
        "aws-secret",
        "akia|asia",
        r"(?-i:A[KS]IA[A-Z0-9]{16})(?:[^A-Za-z0-9+]|secret){1,20}([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        judge.is_varied,
    ),
    _context(
        "url-signature",
        "sig=|signature=|key=|code=|auth=|hmac=",
        rf"(?:(?<=[?&#;-])(?:sig|signature|key|code|auth|hmac)|(?<=[\"' ])(?:sig|signature|auth|hmac))={_UNQUOTED}",
        judge.is_long_opaque,
    ),
    _context("cookie", "sess|sid=", rf"(?:sess(?:ion)?(?:[_-]?id)?|sid)={_UNQUOTED}", judge.is_long_opaque),
    _context(
        "cookie",
        "cookie:",
        rf"cookie:[^\n]{{0,512}}?(?:auth|jwt|remember|csrf)\w{{0,16}}={_UNQUOTED}",
        judge.is_long_opaque,
    ),
)

CONTEXT_RULES: tuple[SecretRule, ...] = (
    _context(
        "private-key",
        "-----begin ",
        r"-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----"
        rf"(?:(?:[^-]|-(?!----)){{0,16384}}+{_PEM_END}"
        r"|(?:(?:[\s>|+\"',]|\\{1,4}[nr])*+(?=[A-Za-z]{0,60}[0-9+/]|(?-i:[A-Z]{0,9}[a-z]{1,9}[A-Z]{1,9}[a-z]{1,9}[A-Z]))[A-Za-z0-9+/]{12,}+={0,2})++)",
        judge.has_key_material,
    ),
    _context(
        "private-key",
        "private-lines:",
        r"Private-Lines:[ ]\d{1,3}\s((?:[A-Za-z0-9+/=]{8,64}\s?){1,200})",
        judge.is_varied,
    ),
    _context("sentry-dsn", "://", r"://([0-9a-f]{32})(?::[0-9a-f]{32})?@", judge.is_varied),
    _context(
        "url-password", "://", r"://[^\s:@/?#\"'<>\[]{0,128}:([^\s/\"'<>]{1,256})@", judge.is_url_password
    ),
    # A slash in a password breaks the URL, yet people paste it; a database URL has no port before the @.
    _context(
        "url-password",
        "://",
        r"(?:(?<=postgres)|(?<=postgresql)|(?<=psycopg)|(?<=mysql)|(?<=mongodb)|(?<=mongodb\+srv)|(?<=redis)|(?<=amqp))"
        r"://[^\s:@/?#\"'<>\[]{0,128}:(?!\d{1,5}/)([^\s\"'<>]{1,256})@",
        judge.is_url_password,
    ),
    _context("url-password", "://", r"://([A-Za-z0-9_-]{20,512})@", judge.is_opaque),
    _context(
        "url-password",
        "jdbc:oracle:|sqlplus |impdp |expdp |sqlldr ",
        r"(?:jdbc:oracle:\w{1,12}:|(?:sqlplus|impdp|expdp|sqlldr)[ ]{1,4})\w{1,40}/([^\s@\"']{1,128})",
        judge.is_url_password,
    ),
    _context(
        "password", ":5432:", rf":5432:[\w*.-]{{1,64}}:[\w*.-]{{1,64}}:{_UNQUOTED}", judge.is_url_password
    ),
    _context(
        "authorization",
        "authorization",
        r"authorization[\"']?[ \t]{0,4}[:=,][ \t]{0,4}f?[\"']?"
        r"(?:(?:bearer|basic|token|api-?key|ssws|key|jwt|digest|negotiate|splunk|bot)(?:[ \t]|%20|\+){1,3})?"
        + _UNQUOTED,
        judge.is_header_value,
    ),
    _context("authorization", "bearer", rf"bearer(?:[ \t]|%20|\+){{1,3}}[\"'`]?{_UNQUOTED}", judge.is_token),
    _context("authorization", "basic ", rf"basic[ ][\"'`]?{_BASE64}", judge.is_basic_login),
    _context(
        "authorization",
        '"auth"|_auth=|_auth ',
        rf"(?:\"auth\"[ ]?:[ ]?\"|_auth[ ]?[= ][ ]?\"?){_BASE64}",
        judge.is_basic_login,
    ),
    # ---- commands
    _context(
        "password",
        "-u|-a |--user|--proxy-user",
        r"(?<![\w-])(?:-u|--user|--proxy-user|-a)[ =]?[\"']?[\w.@\\+-]{1,64}[:%]" + _UNQUOTED,
        judge.is_login_password,
    ),
    _context(
        "password",
        "mysql|mariadb",
        rf"(?-i:(?:mysql|mariadb)\w{{0,12}}[^\n|;]{{0,160}}?[ ]-p){_VALUE}",
        judge.is_login_password,
    ),
    _context(
        "password",
        _CLI_TOOL_ANCHORS,
        rf"(?:{_CLI_TOOL_ANCHORS})[^\n|;]{{0,160}}?[ ]-(?:p|[awkn][ ])[ ]?{_EVIDENT}{_VALUE}",
        judge.is_mixed_or_quoted,
    ),
    _context("password", "-pass", r"-pass(?:in|out)?[ ]{1,2}[\"']?pass:" + _UNQUOTED, judge.is_url_password),
    _context(
        "password",
        "echo ",
        rf"echo[ ](?:-n[ ])?[\"']?(?:[\w.-]{{1,32}}:)?{_UNQUOTED}[\"']?[ ]?\|[ ]?[^\n]{{0,80}}?(?:--(?:password-)?stdin|passwd|sudo[ ]-S)",
        judge.is_login_password,
    ),
    _context(
        "password",
        "htpasswd",
        r"htpasswd[ ]-\w{0,6}b\w{0,6}[ ][^\s]{1,128}[ ][\w.-]{1,64}[ ]" + _UNQUOTED,
        judge.is_login_password,
    ),
    _context("password", "/user:", r"(?<=[ ])/user:[\w.\\@-]{1,80}[ ]" + _UNQUOTED, judge.is_strict_mixture),
    _context(
        "password",
        "--",
        rf"--(?:[a-z]{{1,16}}-){{0,3}}(?:password|passwd|pass|pwd|passphrase)(?:=|[ \t]{{1,2}}){_VALUE}",
        judge.is_password_option,
    ),
    _context(
        "token",
        "login |auth |authtoken |client(",
        rf"(?:login|auth|authtoken|client\()[ ]?(?:--with-token[ ])?(?:<<<)?[ ]?{_VALUE}",
        judge.is_login_token,
    ),
    # ---- code and SQL
    _context(
        "password",
        "identified",
        r"identified(?:[ ]with[ ]\w{1,32})?[ ]by[ ](?:password[ ])?[\"']([^\"'\n]{1,256})[\"']",
        judge.is_password_assigned,
    ),
    _context(
        "password", "wifi.begin(", rf"wifi\.begin\([^,\n]{{1,64}},[ ]?{_QUOTED}", judge.is_password_assigned
    ),
    _context(
        "password",
        "basicauth(|auth=(|auth = (|login(",
        rf"(?:(?:basic)?auth(?:[ ]?=[ ]?)?|login)\([ ]?[\"'][^\"'\n]{{1,64}}[\"'],[ ]?{_QUOTED}",
        judge.is_password_assigned,
    ),
    # `("password", "...")`: the value must end the call, or any list of words would do.
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_KEY + rf"\\?[\"'][ ]?,[ ]{{0,12}}{_QUOTED}(?=[ ]?\))",
        judge.is_password_assigned,
    ),
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_KEY + r"[\"']?(?:[ ][^<>\n]{1,60})?>([^<>\n]{3,256})</",
        judge.is_password_in_prose,
    ),
    _context(
        "password", "pwd={|password={", r"(?:pwd|password)=\{([^{}\n]{3,256})\}", judge.is_strict_mixture
    ),
    # ---- keys and sentences
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_KEY + _CLOSE + _WHOSE + _ASSIGN + _VALUE,
        judge.is_password_assigned,
    ),
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_NOUN + _CLOSE + _WHOSE + _SAYS + _VALUE,
        judge.is_password_in_prose,
    ),
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_NOUN + r"[ \t]{1,4}(?:to[ \t])?" + _VALUE,
        judge.is_password_next_to_key,
    ),
    _context(
        "password",
        _PASSWORD_ANCHORS,
        _PASSWORD_KEY + _CLOSE + _NEXT_LINE + _UNQUOTED + _ALONE,
        judge.is_strict_mixture,
    ),
    _context("password", _PASSWORD_ANCHORS, _PASSWORD_KEY + _ELSEWHERE_IS + _VALUE, judge.is_mixed_or_quoted),
    _context(
        "password",
        "password|passphrase|passcode",
        r"(?<!\S)[\"'`]?([^\s\"'`]{5,64})[\"'`]?[ ](?:is|as|for)[ ](?:(?:the|my|our|your|his|her|their|a)[ ])?"
        r"(?:[a-z-]{1,20}[ ]){0,2}pass(?:word|phrase|code)(?=[ ]?(?:[.,;:!?)\n]|\Z)|[ ](?:for|of|to|on|everywhere)(?![a-z]))",
        judge.is_strict_mixture,
        scan=True,
    ),
    _context(
        "password",
        "password|passphrase|passcode",
        r"(?<![\w-])(?:type|enter|use)[ ][\"'`]?([^\s\"'`]{5,64})[\"'`]?[ ](?:when|if|as|at|on|for)[ ][^\n.]{0,40}?pass(?:word|phrase|code)",
        judge.is_strict_mixture,
        scan=True,
    ),
    _context("password", _PASSWORD_ANCHORS, _PASSWORD_NOUN + _STATED + _VALUE, judge.is_strict_mixture),
    _context(
        "password", _PASSWORD_ANCHORS, _PASSWORD_NOUN + _UNSPACED_LINK + _VALUE, judge.is_mixed_or_quoted
    ),
    # `admin/...`, `u: admin p: ...`
    _context(
        "password",
        "admin/|admin:|admin /|root/|root:",
        r"(?<![\w/.@-])(?:admin|root)[ ]?[/:][ ]?([^\s/:\"'()\[\]<>,。，]{6,64})(?![/:\w])",
        judge.is_strict_mixture,
    ),
    _context(
        "password",
        "@",
        r"(?<=\w)@[\w-]{1,40}(?:\.[\w-]{1,20}){1,4}(?:[ ]?[/|:][ ]|[ ])" + _VALUE,
        judge.is_strong_password,
    ),
    _context(
        "password",
        "u:|u=|user:|user=",
        r"(?<![A-Za-z])u(?:ser)?[:=][ ]?[\w.@-]{1,40}[ ,;/|]{1,3}p[:=][ ]?" + _VALUE,
        judge.is_strict_mixture,
    ),
    _context(
        "password",
        "cred|login|zugangsdaten",
        r"(?:cred(?:ential)?s?|login|zugangsdaten)(?:[ ]\w{1,16}){0,3}?[ ]?(?::|=|is|are|→|->|[ ])[ ]?[\"'`]?[\w.@+-]{2,40}"
        r"[\"'`]?[ ]?[:/|][ ]?[\"'`]?" + _UNQUOTED,
        judge.is_strict_mixture,
    ),
    _context("password", _SPACED_PASSWORD_ANCHORS, _SPACED_PASSWORD + _SPACED, judge.is_mixed_or_quoted),
    _context(
        "password", _UNSPACED_PASSWORD, f"(?:{_UNSPACED_PASSWORD}){_UNSPACED}", judge.is_mixed_or_quoted
    ),
    _context(
        "pin",
        "pin is|pin ist|pin:|pin =|pin=|pin es",
        r"(?<![A-Za-z_-])pin(?:[ ](?:is|ist|est|es)[ ]|[ ]?[:=][ ]?)(\d{4,8})(?![\w.,:/-]?\d)",
        judge.is_anything,
    ),
    _context(
        "pin",
        "code is|code:|code =|code=",
        r"(?:(?<=door[ -])|(?<=gate[ -])|(?<=alarm[ -])|(?<=entry[ -])|(?<=lock[ -])|(?<=safe[ -])|(?<=garage[ -]))"
        r"code(?:[ ]is[ ]|[ ]?[:=][ ]?)([\d*#]{4,10})(?![\w.,:/-]?\d)",
        judge.is_anything,
    ),
    *_keyed("secret", "secret", _SECRET_KEY),
    *_keyed("token", "token|bearer|pat:|pat=|pat =|pat is|pat for", _TOKEN_KEY),
    *_keyed("api-key", "key", _API_KEY),
    *_keyed("credential", "cred|_auth|authtoken", _CRED_KEY),
    _context(
        "api-key",
        "key for |key to ",
        r"(?<![\w-])key[ ](?:for|to)[ ][^\n:=.]{1,40}?(?:[ ]is|[:=])[ ]{0,2}" + _VALUE,
        judge.is_long_opaque,
    ),
    _context(
        "api-key",
        "_key=",
        r"(?-i:(?<=[A-Z0-9])(?<!CACHE)(?<!PUBLIC)(?<!SORT)(?<!PRIMARY)(?<!PARTITION)(?<!OBJECT)(?<!S3)(?<!ROUTING)_KEY)="
        + _VALUE,
        judge.is_long_opaque,
    ),
    _context(
        "api-key", "login(|client(", rf"(?:login|client)\([^()\n]{{0,80}}?key={_QUOTED}", judge.is_long_opaque
    ),
    _context("api-key", _SPACED_KEY_ANCHORS, _SPACED_KEY + _SPACED, judge.is_opaque),
    _context("api-key", _UNSPACED_KEY, f"(?:{_UNSPACED_KEY}){_UNSPACED}", judge.is_opaque),
)
