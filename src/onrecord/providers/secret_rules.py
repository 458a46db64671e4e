"""WHAT does a secret with a shape of its own look like? Tokens with a prefix; and what a rule is.

A rule is tried only where one of its anchors occurs, and every unbounded repetition either ends the pattern or is
bounded, so the work grows linearly with the text. Boundaries are spelled out in ASCII because `\\b` sees no border
between a Latin letter and a Chinese one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from onrecord.model.limits import KEY_PREFIXES
from onrecord.providers.secret_values import Judge, is_opaque, is_varied


@dataclass(frozen=True)
class SecretRule:
    """One shape of secret. The last matched group is the secret; without groups the whole match is."""

    name: str
    anchors: tuple[str, ...]  # lower case; the pattern is tried where one of them occurs
    expression: str
    accept: Judge  # does the candidate really look like a secret?
    scan: bool = False  # the anchor is inside the secret, so search instead of matching at the anchor
    flags: int = 0

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when one of its anchors is first found: compiling all takes longer than most
        commands.
        """
        return re.compile(self.expression, self.flags)


_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%3D)|(?<=%20))"
_RIGHT = r"(?![A-Za-z0-9])"
_RUN = r"[A-Za-z0-9_-]"
_JWT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%3D)|(?<=%20))eyJ[A-Za-z0-9_-]{16,}+(?:\.[A-Za-z0-9_-]*+){1,4}(?<!\.)"


def _token(name: str, anchors: str, pattern: str) -> SecretRule:
    return SecretRule(name, tuple(anchors.split()), _LEFT + pattern + _RIGHT, is_varied)


def _inner(name: str, anchor: str, first: str, rest: str) -> SecretRule:
    """A token whose characteristic part is inside it. Its first character comes before the border in the pattern
    because `re` skips to a first character much faster than it tries a look-behind everywhere."""
    begins = r"(?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))"
    return SecretRule(name, (anchor,), first + begins + rest + _RIGHT, is_varied, scan=True)


# Secrets that name themselves. None is shorter than SHORTEST_TOKEN, which lets plain notes skip them all at once.
SHORTEST_TOKEN = 19
TOKEN_RULES: tuple[SecretRule, ...] = (
    _token("aws-key-id", "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    _token("gcp-api-key", "aiza", r"AIza[A-Za-z0-9_-]{30,}"),
    _token("google-oauth", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    _token("google-oauth", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]++)*+"),
    _token("google-oauth", "1//0", r"1//0[A-Za-z0-9_-]{30,}"),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    _token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{30,}"),
    _token(
        "gitlab-token",
        "gl",
        r"gl(?:pat|dt|rt|rtr|ptt|cbt|oas|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_-]{18,}(?:\.[A-Za-z0-9]++)*+",
    ),
    _token("gitlab-token", "gr1348941", r"GR1348941[A-Za-z0-9_-]{18,}"),
    _token("bitbucket-token", "atbb atctt3", r"AT(?:BB[A-Za-z0-9]{24,}|CTT3[A-Za-z0-9_=-]{30,})"),
    _token("atlassian-token", "atatt3", r"ATATT3[A-Za-z0-9_=-]{30,}"),
    _token("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{16,}"),
    _token("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    _inner("discord-token", ".", r"[MNO]", r"[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    SecretRule(
        "telegram-token",
        (":aa",),
        r"\d(?<!\d.)\d{7,9}:AA[A-Za-z0-9_-]{32,34}" + _RIGHT,
        is_varied,
        scan=True,
    ),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    _token("openrouter-key", "sk-or-", r"sk-or-[A-Za-z0-9_-]{20,}"),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{24,}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{30,}"),
    _token("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,}"),
    _token("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_[a-f0-9]{30,}(?:_[a-f0-9]{6,})?"),
    _token("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{30,}"),
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _token("twilio-key", "sk", r"SK[0-9a-f]{32}"),
    _token("sendgrid-key", "sg.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _inner("mailchimp-key", "-us", r"[0-9a-f]", r"[0-9a-f]{31}-us\d{1,2}"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{40,}-[A-Za-z0-9]{10,}"),
    _token("resend-key", "re_", r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _token("pypi-token", "pypi-age", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _token("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _token("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("docker-token", "dckr_", r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("dbt-token", "dbtc_ dbts_ dbtu_", r"dbt[csu]_[A-Za-z0-9_-]{30,}={0,2}"),
    _token(
        "grafana-token", "glsa_ glc_", r"gl(?:sa_[A-Za-z0-9]{30,}_[A-Fa-f0-9]{8}|c_[A-Za-z0-9+/]{32,}={0,2})"
    ),
    _token("newrelic-key", "nrak- nrii- nrjs- nraa- nrra-", r"NR(?:AK|II|JS|AA|RA)-[A-Za-z0-9_-]{19,}"),
    _inner("newrelic-key", "nral", r"[a-f0-9]", r"[a-f0-9]{35}NRAL"),
    _token("sentry-token", "sntry", r"sntry[a-z]_[A-Za-z0-9_+/=-]{30,}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    _token(
        "doppler-token",
        "dp.",
        r"dp\.(?:pt|ct|st|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
    ),
    _token("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    _token("notion-token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})"),
    _token("figma-token", "figd_ figo_ figu_ figr_ figor_", r"fig(?:d|o|u|r|or)_[A-Za-z0-9_-]{30,}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("harness-token", "pat. sat.", r"[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}"),
    _token("hubspot-token", "pat-", r"pat-(?:na|eu)\d-[a-f0-9-]{36}"),
    _token("shopify-token", "shp", r"shp(?:at|ca|pa|ss|tka|ua)_[A-Fa-f0-9]{30,}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{60,}"),
    _token("supabase-key", "sbp_ sb_secret_", r"(?:sbp_(?:v0_)?[a-f0-9]{40,}|sb_secret_[A-Za-z0-9_-]{20,})"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=-]{30,}"),
    _token("heroku-key", "hrku-", r"HRKU-[A-Za-z0-9_-]{30,}"),
    _token("age-key", "age-secret-key-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}"),
    _inner("terraform-token", ".atlasv1.", r"[A-Za-z0-9]", r"[A-Za-z0-9]{13}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _token("postman-key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}"),
    _token(
        "fly-token", "fo1_ fm1 fm2_", r"(?:fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3})"
    ),
    _token("netlify-token", "nfp_ nfc_ nfo_ nfu_", r"nf[pcou]_[A-Za-z0-9]{30,}"),
    _token("tailscale-key", "tskey-", r"tskey-(?:[a-z]{2,12}-)?[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    _token("square-token", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    _token("square-token", "eaaa", r"EAAA[A-Za-z0-9_-]{56,}"),
    _token("facebook-token", "eaa", r"EAA[A-Za-z0-9]{90,}"),
    _token("contentful-token", "cfpat-", r"CFPAT-[A-Za-z0-9_-]{40,}"),
    _token("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{30,}"),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{16,22}"),
    _token("artifactory-token", "akcp cmvmd", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59})"),
    _token("openshift-token", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    _inner("azure-secret", "q~", r"[A-Za-z0-9_~.]", r"[A-Za-z0-9_~.]{2}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _token("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _token("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    _token("onepassword-token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/_=-]{60,}"),
    _token("onepassword-token", "a3-", r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}"),
    _token("mapbox-token", "sk.eyj", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _token("circleci-token", "ccipat_", r"CCIPAT_[A-Za-z0-9_]{30,}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:[A-Za-z0-9]{16}_)?[a-f0-9]{40}"),
    _token("easypost-key", "ezak eztk", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("shippo-key", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    _token("readme-key", "rdme_", r"rdme_[a-z0-9]{60,}"),
    _token("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    _inner("maxmind-key", "_mmk", r"[A-Za-z0-9]", r"[A-Za-z0-9]{5}_[A-Za-z0-9]{29}_mmk"),
    _token("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{22,}"),
    _token("vercel-token", "vcp_ vck_ vca_ vci_ vcr_", r"vc[pkair]_[A-Za-z0-9]{24,}"),
    _token("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{140,}"),
    _token("clickup-token", "pk_", r"pk_\d{5,12}_[A-Z0-9]{30,}"),
    _token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,}"),
    _token("typeform-token", "tfp_", r"tfp_[A-Za-z0-9_-]{40,}"),
    _token("voyage-key", "pa-", r"pa-[A-Za-z0-9_-]{43}"),
    _token("tavily-key", "tvly-", r"tvly-[A-Za-z0-9-]{28,}"),
    _token("jina-key", "jina_", r"jina_[A-Za-z0-9_]{40,}"),
    _token("cerebras-key", "csk-", r"csk-[a-z0-9]{40,}"),
    # Our own.
    _token(
        "api-key",
        " ".join(KEY_PREFIXES),
        rf"(?:{'|'.join(KEY_PREFIXES)})(?:[a-z0-9]{{8}}_)?[A-Za-z0-9]{{20,}}",
    ),
    # Bounded because the judge may turn a candidate down: a rejected run must not be read to its end again and again.
    SecretRule("api-key", ("sk-", "rk-", "rk_", "sk_"), _LEFT + rf"[sr]k[-_]{_RUN}{{16,512}}", is_opaque),
    # The wider left border keeps a row of eyJ-eyJ-eyJ from being read once per eyJ.
    SecretRule("jwt", ("eyj",), _JWT, is_varied),
)
