--
-- PostgreSQL database dump
--

\restrict B88fdLlDTXqEt5VBnkOJhPI6YiRkMV4bRcvPhmw90Rn1BVscNabGBdWLghpq61F

-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: recollect_old; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA recollect_old;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: agent_settings; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.agent_settings (
    tenant text NOT NULL,
    agent text NOT NULL,
    settings text NOT NULL,
    updated_at bigint NOT NULL,
    updated_by text NOT NULL
);


--
-- Name: api_keys; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.api_keys (
    hash text NOT NULL,
    id text NOT NULL,
    tenant text NOT NULL,
    "user" text NOT NULL,
    label text,
    personas text NOT NULL,
    rules text NOT NULL,
    systems text NOT NULL,
    actor text NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    per_minute integer,
    saves_per_day integer
);


--
-- Name: artifacts; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.artifacts (
    tenant text NOT NULL,
    id bigint NOT NULL,
    conversation bigint NOT NULL,
    path text NOT NULL,
    sha256 text NOT NULL,
    media_type text NOT NULL,
    size bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    written_by text NOT NULL,
    content bytea NOT NULL
);


--
-- Name: audit; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.audit (
    tenant text NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    "user" text NOT NULL,
    origin text NOT NULL,
    operation text NOT NULL,
    outcome text NOT NULL,
    subject text,
    key text,
    run text,
    request text
);


--
-- Name: conversations; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.conversations (
    tenant text NOT NULL,
    "row" bigint NOT NULL,
    id text NOT NULL,
    agent text,
    title text,
    created_at bigint NOT NULL,
    created_by text NOT NULL
);


--
-- Name: embedded; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.embedded (
    tenant integer NOT NULL,
    model integer NOT NULL,
    memories bigint NOT NULL,
    passages bigint NOT NULL,
    total bytea NOT NULL,
    stamp bigint NOT NULL,
    dropped bigint NOT NULL
);


--
-- Name: facets; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.facets (
    tenant integer NOT NULL,
    facet text NOT NULL,
    "row" bigint NOT NULL
);


--
-- Name: idempotency; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.idempotency (
    tenant text NOT NULL,
    "user" text NOT NULL,
    key text NOT NULL,
    operation text NOT NULL,
    fingerprint text NOT NULL,
    at bigint NOT NULL,
    status integer,
    body text
);


--
-- Name: jobs; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.jobs (
    tenant integer NOT NULL,
    name text NOT NULL,
    subject bigint NOT NULL,
    attempts integer NOT NULL,
    due_at bigint NOT NULL,
    claimed_by text,
    error text
);


--
-- Name: memories; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.memories (
    tenant integer NOT NULL,
    "row" bigint NOT NULL,
    id text NOT NULL,
    version integer NOT NULL,
    recorded_at bigint NOT NULL,
    audience text NOT NULL,
    content_hash text NOT NULL,
    kind text NOT NULL,
    dimension text NOT NULL,
    title text NOT NULL,
    hint text,
    content text NOT NULL,
    tags text NOT NULL,
    category text,
    confidence text NOT NULL,
    source text,
    metadata text NOT NULL,
    entities text NOT NULL,
    query text,
    artifact text,
    scope text NOT NULL,
    owner text NOT NULL,
    persona text,
    system text,
    conversation text,
    origin text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    verified_at bigint,
    status text NOT NULL,
    status_reason text,
    always_inject boolean NOT NULL,
    approved_by text,
    approved_at bigint
);


--
-- Name: models; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.models (
    key integer NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    file_hash text NOT NULL
);


--
-- Name: models_key_seq; Type: SEQUENCE; Schema: recollect_old; Owner: -
--

CREATE SEQUENCE recollect_old.models_key_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: models_key_seq; Type: SEQUENCE OWNED BY; Schema: recollect_old; Owner: -
--

ALTER SEQUENCE recollect_old.models_key_seq OWNED BY recollect_old.models.key;


--
-- Name: numbers; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.numbers (
    tenant text NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL
);


--
-- Name: postings; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.postings (
    tenant integer NOT NULL,
    term text NOT NULL,
    audience text NOT NULL,
    "row" bigint NOT NULL,
    weight integer NOT NULL,
    length integer NOT NULL,
    positions bytea NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02');


--
-- Name: recollect_version; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.recollect_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: relations; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.relations (
    tenant integer NOT NULL,
    id bigint NOT NULL,
    source bigint NOT NULL,
    relation text NOT NULL,
    target bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    removed_at bigint,
    removed_by text
);


--
-- Name: scratchpads; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.scratchpads (
    tenant text NOT NULL,
    agent text NOT NULL,
    number bigint NOT NULL,
    size bigint NOT NULL,
    written_at bigint NOT NULL,
    text text NOT NULL
);


--
-- Name: store_facts; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.store_facts (
    name text NOT NULL,
    value text NOT NULL
);


--
-- Name: tenants; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.tenants (
    key integer NOT NULL,
    name text NOT NULL,
    last_id text NOT NULL,
    last_row bigint NOT NULL,
    last_relation bigint NOT NULL,
    changes bigint NOT NULL,
    documents bigint NOT NULL,
    words bigint NOT NULL
);


--
-- Name: tenants_key_seq; Type: SEQUENCE; Schema: recollect_old; Owner: -
--

CREATE SEQUENCE recollect_old.tenants_key_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: tenants_key_seq; Type: SEQUENCE OWNED BY; Schema: recollect_old; Owner: -
--

ALTER SEQUENCE recollect_old.tenants_key_seq OWNED BY recollect_old.tenants.key;


--
-- Name: terms; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.terms (
    tenant integer NOT NULL,
    term text NOT NULL,
    documents integer NOT NULL
);


--
-- Name: vectors; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.vectors (
    tenant integer NOT NULL,
    model integer NOT NULL,
    "row" bigint NOT NULL,
    passage integer NOT NULL,
    audience text NOT NULL,
    text_hash text NOT NULL,
    stamp bigint NOT NULL,
    vector public.vector NOT NULL,
    tokens bytea
);
ALTER TABLE ONLY recollect_old.vectors ALTER COLUMN vector SET STORAGE PLAIN;
ALTER TABLE ONLY recollect_old.vectors ALTER COLUMN tokens SET STORAGE EXTERNAL;


--
-- Name: versions; Type: TABLE; Schema: recollect_old; Owner: -
--

CREATE TABLE recollect_old.versions (
    tenant integer NOT NULL,
    "row" bigint NOT NULL,
    version integer NOT NULL,
    recorded_at bigint NOT NULL,
    recorded_to bigint,
    change text NOT NULL,
    changed_by text NOT NULL,
    changed_as text NOT NULL,
    kind text NOT NULL,
    dimension text NOT NULL,
    title text NOT NULL,
    hint text,
    content text NOT NULL,
    tags text NOT NULL,
    category text,
    confidence text NOT NULL,
    source text,
    metadata text NOT NULL,
    entities text NOT NULL,
    query text,
    artifact text,
    scope text NOT NULL,
    owner text NOT NULL,
    persona text,
    system text,
    conversation text,
    origin text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    verified_at bigint,
    status text NOT NULL,
    status_reason text,
    always_inject boolean NOT NULL,
    approved_by text,
    approved_at bigint
);


--
-- Name: models key; Type: DEFAULT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.models ALTER COLUMN key SET DEFAULT nextval('recollect_old.models_key_seq'::regclass);


--
-- Name: tenants key; Type: DEFAULT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.tenants ALTER COLUMN key SET DEFAULT nextval('recollect_old.tenants_key_seq'::regclass);


--
-- Data for Name: agent_settings; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.agent_settings VALUES ('default', 'planner', '{"intent":true,"decay":true,"half_life_days":90,"decay_floor":0.25,"limit":10,"session_places":2,"profile_places":4,"global_places":2,"max_tokens":null,"advisor":null,"search_expand":false,"rerank":false,"auto_tag":false,"auto_supersede":false}', 1772366436000000, 'ann');


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.api_keys VALUES ('b4126aae64b85b7f680d00932bc17556573fea5a702db127c7a7cf2599e5ca92', 'imrddihn', 'default', 'ann', 'owner', '[]', '["memory.read","memory.manage","memory.review","memory.admin"]', '{"*":"manage"}', 'person', 1772366437000000, 'ann', NULL, NULL, NULL, NULL);
INSERT INTO recollect_old.api_keys VALUES ('4ce5cf8f345c989bd9901e6ed85acafc1eab9f9f2bd5a4e27e6f359d55fea972', '1ji7rrgm', 'default', 'bob', 'reader', '[]', '["memory.read"]', '{}', 'agent', 1772366438000000, 'ann', NULL, NULL, NULL, NULL);
INSERT INTO recollect_old.api_keys VALUES ('b78883e4292a277cb34821017263fb19208170d0eb80f1cc6b799c0c98a73f78', 'ymtgiu15', 'default', 'ann', 'revoked', '[]', '["memory.read"]', '{}', 'agent', 1772366439000000, 'ann', NULL, 1772366440000000, NULL, NULL);


--
-- Data for Name: artifacts; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.artifacts VALUES ('default', 1, 1, 'notes/plan.md', '2efb9c7ae5545d0f1d335cd450c650f8e716c8a0d32f0766c8cbd0ccbecded92', 'application/octet-stream', 7, 1772366434000000, 1772366434000000, 'ann', '\x4120706c616e2e');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.audit VALUES ('default', 1, 1772366402000000, 'ann', 'person', 'ingest', 'done', NULL, NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 2, 1772366405000000, 'ann', 'person', 'remember', 'done', '1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 3, 1772366408000000, 'ann', 'person', 'remember', 'done', '2', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 4, 1772366411000000, 'ann', 'person', 'remember', 'done', '3', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 5, 1772366411000000, 'ann', 'person', 'supersede', 'done', '3', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 6, 1772366411000000, 'ann', 'person', 'supersede', 'done', '1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 7, 1772366414000000, 'ann', 'person', 'remember', 'done', 'kb.deploys', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 8, 1772366416000000, 'ann', 'person', 'revise', 'done', 'kb.deploys', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 9, 1772366419000000, 'ann', 'person', 'remember', 'done', '4', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 10, 1772366420000000, 'ann', 'person', 'relate', 'done', '2', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 11, 1772366421000000, 'ann', 'person', 'relate', 'done', '2', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 12, 1772366422000000, 'ann', 'person', 'unrelate', 'done', '2', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 13, 1772366425000000, 'ann', 'person', 'remember', 'done', 'gone', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 14, 1772366426000000, 'ann', 'person', 'retire', 'done', 'gone', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 15, 1772366429000000, 'ann', 'person', 'remember', 'done', 'global:1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 16, 1772366432000000, 'ann', 'person', 'remember', 'done', '5', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 17, 1772366433000000, 'ann', 'person', 'register_conversation', 'done', 'c1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 18, 1772366434000000, 'ann', 'person', 'write_artifact', 'done', '1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 19, 1772366435000000, 'ann', 'person', 'append_scratchpad', 'done', 'planner', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 20, 1772366436000000, 'ann', 'person', 'set_agent', 'done', 'planner', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 21, 1772366437000000, 'ann', 'person', 'create_key', 'done', 'imrddihn', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 22, 1772366438000000, 'ann', 'person', 'create_key', 'done', '1ji7rrgm', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 23, 1772366439000000, 'ann', 'person', 'create_key', 'done', 'ymtgiu15', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 24, 1772366440000000, 'ann', 'person', 'revoke_key', 'done', 'ymtgiu15', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('acme', 1, 1772366443000000, 'carl', 'person', 'remember', 'done', '1', NULL, NULL, NULL);
INSERT INTO recollect_old.audit VALUES ('default', 25, 1772366446000000, 'ann', 'unattended', 'remember', 'done', 'proposal', NULL, 'r1', NULL);


--
-- Data for Name: conversations; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.conversations VALUES ('default', 1, 'c1', NULL, 'The first', 1772366433000000, 'ann');


--
-- Data for Name: embedded; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.embedded VALUES (3, 1, 1, 1, '\x0000000079247c3f0000006042c49abf000000a07a8db5bf0000000088a1953f000000e0f2dca43f000000605e0a93bf000000c0c2118ebf000000809680a23f000000a01a42adbf00000080dcb1a73f00000000888298bf00000040ddabaabf000000806311b73f00000000248fa6bf000000e0f8aa943f000000006a4ba3bf000000a07a3a803f000000a08dc2bf3f000000801021a43f00000060c922a93f00000040d2e3a4bf00000020c6c4a9bf000000601651a53f00000020f053793f000000e0ce06b53f0000000053bc92bf000000a085d380bf00000000a031a83f000000c0a0f1933f0000002083ae92bf00000060af0ea7bf000000e0f4f9a9bf000000e0afa7a7bf000000607e61b03f000000e0e325b6bf0000008087ca86bf00000060cc5cabbf00000040638ca83f000000604bb18abf000000003485ab3f000000e00588b0bf000000a0dbc9913f0000002097d9a83f000000003135a13f000000a0598d94bf00000060793743bf00000060ddb5b33f00000020789e97bf000000801ab0833f000000e02fe3b93f00000080e256853f0000008028fc96bf000000808573a63f00000080c428a03f000000405595b4bf000000e02136b4bf000000a0540fadbf00000080c835a9bf00000040ca16b4bf000000e0fb7d9b3f000000a07a9f94bf000000a0f1e9b2bf00000040b22dae3f000000e0f171a2bf000000008fbe8ebf00000060f6aca13f000000406f45a8bf000000e0247aae3f00000060285c8ebf000000e0b188913f000000e0fb9da6bf000000801785aa3f00000040749bb0bf000000e00f34c0bf000000c0e1ee8dbf0000002004cab93f000000e06d3197bf00000040bf4da23f000000c07b616e3f000000a021ad91bf00000000428aa33f000000605d1db5bf00000040c80298bf00000020ee275f3f000000a099649d3f000000c0a5b0a63f000000a02d767bbf000000409aefa13f000000c000c3acbf00000020f839b43f000000e0a853913f00000040945dabbf000000a07f9899bf000000e0cf30b83f000000402b4ba4bf000000a01c0aa03f000000a02d4b933f000000e08801a6bf000000006536a03f00000060ae89a13f000000408c3695bf000000a02b6d9b3f000000404cecb3bf0000006036e198bf000000e0bfe7a2bf0000008062777a3f00000000a019b4bf00000060e480a73f00000000a6d395bf00000000491faabf000000004bacb4bf000000209e65a43f0000000068eca7bf00000060e7418e3f000000a003dfacbf000000405d089c3f000000a01339b83f000000204e648d3f00000000a966bbbf000000809a40b0bf000000a051597abf000000e01009bcbf000000a072eea03f0000006070faa33f000000408e32a73f00000040d57593bf0000008083da9f3f000000a0b1ccacbf000000e08a2e923f0000000015d2bbbf0000004017b3a73f000000601504babf000000204c22943f000000409f2ead3f00000040862da6bf00000040278fa8bf00000000d5ccb1bf000000e0504ea3bf000000e00c30ae3f000000a0b514ad3f000000208f0fb03f000000202bf99c3f000000e096475dbf000000c09837a0bf00000080dfc090bf00000080c1a3a1bf000000209feead3f000000a0be0b82bf000000c00d7e9ebf00000060782da33f00000060c2a763bf00000040a8dfb3bf00000020082babbf000000601443aabf000000401da0aabf000000607a5cacbf000000a09a53a9bf00000060248ca23f00000020a68f90bf0000008018d8b1bf00000060616ab2bf00000060cb7d973f0000004010d9c43f000000e0c24ea73f000000c078ff9bbf00000060905c94bf000000c0635eb03f0000002088f6a53f00000040045fa7bf00000040b1a0b0bf000000e049c8be3f00000000155b933f000000a02d4ca63f000000c0caa9913f00000080d64fb03f000000c03eaf99bf000000e0b83da13f000000009a5b443f000000e022ec913f000000400761a63f000000e031b591bf0000008029cfa63f000000209c9092bf000000a05f7b963f0000006024c485bf00000080f2aab1bf000000602a7eafbf00000040b447a7bf00000060eab7b2bf0000000070e1c3bf000000202e71b03f000000a0b91ba0bf000000c01c288e3f000000c0bee0973f00000060112c44bf000000806bf0ac3f0000000016e7a4bf000000006c98c3bf000000c0c1e8b8bf000000c03c78a8bf000000a0429192bf00000080a54ba23f000000c0835ca63f000000a051309fbf000000201ce1a1bf000000602b7fb1bf000000a03d51973f000000a0d93a78bf000000a052749ebf00000040fa45a4bf000000603ce06dbf000000c0a61eb43f000000c077c9a8bf000000a0dd48bbbf00000000d3d6b0bf000000e09ab697bf000000805e0dc13f000000e0106a91bf000000e04564b1bf0000000086597d3f000000a01d85a93f00000000163ba43f000000408b5b9cbf000000a0741397bf000000c022c8a5bf00000080bc6e923f000000c0a466983f00000000dceb8abf0000006041c6b63f0000000055b0b7bf000000e05d0d9a3f000000c05c43803f000000c01c0ba43f000000202e48913f00000020399eb03f00000040a685b0bf0000006098caae3f000000e0c7d5a6bf00000040194da3bf000000202efba33f000000a0a9ac98bf000000c08f788a3f000000c079e8893f000000609142a5bf000000e06dc3a23f000000a05875b43f00000060be848d3f000000603501b3bf000000c0c129963f000000a0e9b0a6bf000000409f48b1bf0000006009879d3f00000080b4a9883f000000408888b5bf00000020420299bf00000060cfc9ac3f0000008060adad3f000000c05ae1a7bf00000040c27e553f00000080cc077cbf00000080262e8f3f000000601eada83f0000002079aaa73f00000000d8147dbf00000040d0f08c3f000000002bfea23f000000202888a13f000000e08120ad3f000000e09f9eb33f000000a08d72bdbf000000c04e4270bf000000e0aa439abf000000a0adc78c3f000000409c939cbf00000060187b8ebf000000e07663b33f00000080cd5da6bf000000806e3879bf00000020b64b993f000000c0c17f70bf000000401378a6bf000000202829823f00000040a83d893f00000000905aa63f000000801d9793bf000000e00ff382bf00000020875c96bf000000408659a0bf00000040972da93f00000020bf19c03f000000e03adba0bf000000e07735aa3f000000c0802b9b3f000000602cc6a43f000000c01212a83f00000000398262bf000000409b8ba8bf000000c00ba2a4bf000000c007b26abf000000c02853973f000000c01f1490bf00000080585baebf0000000009947b3f000000003e1fb4bf00000000f2c5813f000000e04be3b43f00000040e55b9b3f00000000455776bf000000c03d508ebf000000c09d8c9d3f000000807e704f3f000000404177abbf000000c029a5a53f000000a04b82aebf000000e03d30b6bf000000c04c90a13f000000004203b53f00000080700ba2bf000000c0e6e8a23f000000804e7da33f000000602319a8bf000000c05008bb3f00000020df218fbf000000407987a33f000000c0e1499cbf000000c05fd1ac3f0000008086cf593f000000e06b74923f00000040a033a33f000000e0aed8a4bf000000c09653ba3f00000080c72d6c3f000000c0ce8883bf0000008062aa96bf00000000f19b8abf000000805c39adbf0000000005bdbc3f00000040e81571bf000000a08b05a23f00000040f650b7bf000000e091aeabbf000000c0acf695bf000000c0efa8a8bf00000020e694a2bf000000c0b3daa03f000000208b5ca03f000000a087fa843f000000a08d797abf000000c08bbd643f000000c089daa13f00000020c036973f00000040710aaa3f0000008044b69b3f000000c08b38b43f0000006080efb0bf00000080c9cab2bf000000e0fdd0a43f0000002020277abf000000200382b73f00000040a270873f00000080ac94ab3f000000e07c07af3f000000a0599f943f000000a06b05743f000000006f254bbf000000405cc99ebf000000c089a19fbf000000005fe1963f0000000080dca93f000000a078acb63f00000060f926aebf000000004bb5ac3f000000a054dc9dbf0000000034798d3f00000000c28a923f000000e033cbb4bf00000040b668773f000000208f14963f00000000fb72873f000000a046a5b0bf000000402e6486bf0000002022b1b4bf0000002043ad983f000000c0e918bc3f', 1, 0);
INSERT INTO recollect_old.embedded VALUES (4, 1, 1, 1, '\x000000404aa6a43f00000020f53d41bf0000002007bfb2bf00000080639e7e3f000000c0d32da93f000000e0dfe0a5bf00000020ae08b1bf00000020a53fb63f000000a0644db2bf000000201ec9a33f00000000d8f4a7bf000000a07cf7a4bf000000e07bbab23f000000807168aabf000000c01377813f00000020de8eb7bf00000000d6d3b33f00000000fa7ab23f00000080c0d0a13f00000000d0d681bf00000080656ea6bf00000020aa6199bf000000c0dfa9ac3f00000040cb2aa33f000000c0f149ba3f000000e032b69c3f00000020887f84bf0000006043c1b23f00000040232e933f00000080131392bf000000a0ea21a2bf00000060e66fa5bf0000004034e9b5bf000000006b18813f000000a0d748bbbf00000040e36190bf000000c066e1a9bf00000000f49fac3f000000a04efc9d3f000000203864a23f000000000e50b1bf00000080fb1a9c3f00000020f2c4973f00000000bf26793f000000a00763a2bf00000080a261713f000000e0fb3db93f000000e0a7d5a7bf00000080e27e97bf000000a0f2cab33f000000a049b5a33f00000020cc4170bf00000040645d373f000000e09b61a53f000000e0822fb4bf00000020ffebb4bf000000806b9bb7bf000000c06bfaacbf000000e0e5bdb8bf000000006d858cbf000000801706a23f000000804a01b0bf0000002020ab9c3f000000c0d7ae853f000000808154aabf000000205ab9943f000000403fa9b7bf0000008070cdad3f000000208f73b4bf000000c065e7923f000000807553a8bf000000205af9ab3f000000004105adbf000000e03e2bb9bf0000000089ab41bf000000808aecb73f000000c07d35793f000000e042278e3f000000a004eaa33f00000000614187bf000000201d11b03f000000805faeb1bf000000803b8a82bf00000060b868abbf00000000ef4e913f00000000e566b53f000000406ec19c3f000000a0ee4ea63f0000004050898dbf000000a0c634a43f00000040547c963f000000800b7e513f000000e0baaf99bf00000080d22bb73f000000007cdcb0bf000000609be1ae3f000000e00896543f000000802df2a4bf000000e09f72a63f000000c00c3eab3f000000200231aabf000000404d2aab3f00000060f3eca9bf00000040606f82bf00000040e82cabbf000000203f84a5bf000000c0f965a8bf000000c0fe9ea83f000000a0c5d77a3f000000e031aea3bf000000407750a9bf00000000235b84bf0000006035d998bf000000c0ec2e9bbf000000c0f4c993bf00000040d9dfa53f000000201676b13f00000080e7fa49bf000000a0e1b7b1bf00000000b10fafbf00000000380b93bf00000040352db0bf000000a0f8c9a63f000000a09cbf99bf000000a0f566a63f000000a0179fa8bf000000c0685ba33f000000201025b5bf00000040ad28a1bf00000020cc83b2bf000000407c87973f000000805fe1b0bf000000000db1913f000000009f1b96bf000000c032b59bbf000000c07490a7bf000000a074fea5bf000000a0c38770bf000000e0ba42a53f0000004018a09c3f000000601c82b03f000000c02216a33f000000c03ed2913f000000002271b0bf00000000566e97bf0000006089c59cbf000000204b65ac3f000000e0845595bf000000407b8baabf00000080b193943f000000005aa4a2bf000000c006feb6bf000000a0787aafbf000000a07508aabf00000020c89dadbf000000c08c66a8bf000000004122913f000000a0777ca33f00000040f559743f0000000064c67fbf0000000086bbaabf000000206d5571bf000000606fd3c93f000000e0e5b853bf000000a0fbcea8bf000000e0ad2393bf0000008095d1ac3f00000020f5caaa3f000000a0ae8aa3bf000000c0269ba1bf0000004036a7ba3f000000e0265a9a3f0000006081fda73f00000020b40790bf000000c0773eb13f0000004098dbabbf000000804e03b33f000000e04f82a73f000000a098e280bf000000604fe99b3f0000000096139c3f00000060f3efa63f000000006eadaabf00000060f6608ebf000000c00b589bbf000000c0625ab7bf000000a05260b1bf00000000a331afbf000000a0b2bfb0bf000000c0c944c6bf000000e030d6aa3f00000040727db6bf00000080614f813f000000a0042f7a3f000000003c4e803f00000060874ba83f000000a05bb4603f000000c0d081c1bf000000c0930faabf000000c04e02b4bf0000000097cf873f000000e0a4a5a43f0000008099b5933f000000a0b6b894bf00000060635ab3bf000000c0aa8fa5bf00000020ad1a7fbf00000060d916743f000000206f4698bf00000040291389bf00000060ab76b0bf00000060a002ab3f0000006047fd96bf0000002036c1bcbf000000a055c3a2bf000000805ab271bf000000e04150b13f000000a03785a53f0000006082fd95bf0000008019828dbf000000a0e240a73f00000020c7329b3f0000006063e69ebf000000206a33b0bf0000004023879cbf000000e02454a9bf000000a0b81f523f000000e0062b9fbf0000008033dab63f000000803f3fabbf00000000787d8b3f000000202794823f00000020e81f6e3f00000080a0dc943f000000a0c3f7b73f000000206e9f98bf00000040b737b23f00000000be51aebf0000008035f892bf000000c0deb3b03f000000008a91aebf000000204a98a0bf000000c0b365adbf0000006056f3a3bf0000000099a98b3f000000006921b63f000000002a0387bf0000002095569bbf000000e0e803b13f000000c0e964b2bf000000c0ee0caebf00000020ebaa693f000000c04f06a13f000000207d77bcbf000000e003f78e3f000000c04504b23f000000c0066aa13f000000208172a8bf000000e01a617d3f0000004033c96f3f00000080834c96bf000000c009e6ad3f00000020df8bb83f00000080d54491bf000000e054eda53f00000000db7060bf00000040887fa43f000000e0e2dd7f3f00000080b7b8a13f00000000b830b7bf000000c0deba72bf000000407e68563f000000209a42953f000000209b28b4bf00000000f095a73f000000c00324b13f000000806a09b0bf00000000d5f273bf000000a04ee0a43f00000000129a85bf00000000b8479bbf00000020bb8f81bf00000060ba3c73bf000000407a02ab3f000000c0da27acbf00000080a8db7d3f000000c0f3caadbf00000040aa0eac3f00000080a462b53f000000c01aa7b33f00000040022590bf000000a0981aab3f000000c00525793f000000403ac6723f00000060c24b9e3f000000a0df1aa13f000000c0cda99ebf0000008068dcafbf000000e0c89886bf000000c033a590bf0000006004158bbf00000080cba9b5bf000000c0f57a9dbf00000060661a3c3f000000c0de40a63f000000003638bf3f00000020b4248f3f0000000053568abf000000400b7e87bf000000a02cb76f3f000000200a8e933f0000002050acb3bf0000006021a0a13f000000201300b1bf000000a00fc2a9bf000000207c91a83f000000a0f53ca23f00000080808789bf00000020c089a83f00000000aafca43f000000e01d1ea3bf000000007de6b63f000000408cbba6bf000000807e92ad3f0000008083a89abf000000e03ff3b03f000000e014b7aabf000000608a24af3f00000020d0a0a73f00000080134dadbf000000c077edae3f000000c0ee2d60bf000000e07f9494bf00000080258dabbf000000007211a3bf000000a0aac68fbf000000a07ccab93f00000080d1a77a3f00000080410cad3f00000060b38facbf00000020b560a2bf000000205a074ebf00000060230ea2bf000000e071faa8bf0000004064b5a33f000000c0cfb7a03f00000020910fa83f00000040d2af883f000000a08797813f000000e08068603f000000c02fdb66bf000000408019b23f00000040baaaad3f000000403d84b13f00000020c01e9fbf00000020f8559fbf000000e0e5e9a53f000000406a94a93f000000001113b23f000000606d499f3f00000080c5b6a33f00000080cd7e733f000000c037a8a83f000000c0df89a2bf000000c03b3a863f000000c06c72aabf000000a04094a8bf000000004f6c9e3f000000c04f09ad3f000000c08797be3f00000000b43492bf000000205651a53f00000040c775953f00000080185e6bbf000000805123ac3f000000c0fafbb0bf00000000dd29943f000000005bf051bf000000e0bd666dbf00000000abce98bf00000000f1395abf000000406484a9bf00000060bd6244bf000000c02c90bf3f', 1, 0);
INSERT INTO recollect_old.embedded VALUES (2, 1, 8, 8, '\x0000006c91e1d63f000000fd6a58c9bf000000c6695fe3bf00000084b64aa8bf0000002f6f3abe3f000000ac7debe3bf000000ccbadfc0bf000000a110c7d23f000000dc6128e3bf000000730966de3f000000ac2432cdbf000040cc6f32d4bf0000008c7fa5d73f00000048e605d8bf0000005f3f7bbe3f0000000248ced9bf000000080647e03f000000d2cfecd63f000080b4bc81bdbf00000036c583bc3f000000e6122fe3bf00000052eef9a9bf000050ab974cc93f000000442f20d33f00000041cdaac93f00000044f866d93f00000068037796bf000000cc9e2bd63f0000000e6703b03f0000001ca4aca6bf0000005bb8c6bebf000000a78d0bdebf0000004e5e6fdcbf000000da7750c33f000000d341ddd4bf00004026c6b5d7bf000000cfb63ed6bf00000083f2c1b13f00000038ad89be3f0000006428f6db3f000000980b10debf000000e9b63dc23f000060c3e96fd23f000000aa847fc43f00008005bec7c2bf000000fbda9cd2bf000000e64da6d23f000000013033afbf0000009ab601c3bf0000002a2fe4e53f00000028d422db3f000000e48f5cd5bf000080dc549ec53f000000e6ce54d53f000000984140e3bf000000db5213e4bf000000e6a7c4c8bf000000cafa2be4bf0000004004a4d3bf000000546c1fd53f000000fa2dc1b73f000040a703cec4bf000000c8bdf0893f000000d098e2acbf0000001c7ec5d6bf000000122b29bc3f0000002c3912e1bf000080eecbaec03f0000006e5255ccbf000000a0f9f3d33f000000fd1966d4bf00000034acc1d83f0000006669eedabf000000f67266dbbf00008036a03dcbbf0000007253dce03f000080ba6cadc2bf0000004a565fd13f00000015c46fd73f0000009c2e78e1bf000000644e55d33f000000d182c9c2bf00000037ef84c1bf000000ce9c55d0bf000000969e5dd93f000000dcebe8de3f000000981232d23f0000002e1f5cd03f0000007c27ddaabf0000001013aee43f000000d83375cd3f000000e9cc84b9bf000000287c32b6bf000000bc106be53f0000002a61d7dabf000000fbaa83ce3f000000189d0ba73f000000d6317dd3bf000080c42906d93f000000660478dd3f0000003d4f03cdbf000000be01d2a33f000000bcf215d6bf000000f08018ae3f000080541f6fcbbf00000036d5d1bf3f0000009c6556cfbf00000078e8a9db3f000080f12c17d23f0000008a4ce9cdbf00000060bd32dfbf000000f44d05d33f000000185465dcbf000000457a4bd7bf000000be6a6dbc3f0000002050017b3f00000094fa15ca3f000000624697d63f0000001e5300e4bf000000a4adfcdbbf0000005c648adcbf000080d859f9b7bf000000c18183d23f0000004031c578bf0000001ff966d03f0000803fe417d9bf000000d0c9c9b73f00000070e27ddcbf0000c01f424ad8bf00000092953fe4bf000000c8b2e0d63f0000006a4ce9e3bf0000007867dfb53f0000003ae1bb78bf0000006a7959dbbf000000504f89dabf000000992260d6bf0000802e320fd0bf000000fed472d33f000000dbbc4cc43f0000809b20bed33f000000fd7fa8c73f000000a13da6c23f000080c3805dcbbf000000ca9bd0c7bf00000032a2f3dcbf0000c032aae1cd3f000000b69a31b1bf0000002e6802dabf000050300a17cd3f00004099dad9d0bf0000001c0353ddbf00000092e640d2bf000000bcc792e2bf000000745722e5bf0000009e1d58d9bf0000007a52d9d2bf0000c0a5681eda3f0000005494d0c5bf000080fac603e3bf000000849c06e6bf0000005dcbe4bb3f000000983f58f63f000000f8e865cf3f000000441702dabf00000098128e98bf000000d65fa9db3f000000d0910ddf3f000000aad640e2bf00000010dfc7dbbf0000004e59f4e93f0000003df5c1c4bf000000467d5bd53f000080f038a1c03f0000008864dadc3f00008064219fcfbf000080fdb6fed23f0000e052188dc33f000000a0d542b9bf0000007c562ede3f000000def5cdb23f000080519334d13f0000a04c8b96c8bf000000d77798d2bf00000058f7e996bf00000044c320dfbf000000e39354d8bf0000000c9e10dbbf0000c0571501dfbf00000054efaeecbf0000006f063fd03f0000001e1dafd4bf0000004edb3495bf00000018ee34d13f000000d682a4dd3f000030ab8296b83f000000a414aedabf000000066e84e6bf000000fb5548d6bf000000e6d8fdd9bf0000000e67a1c2bf000080713fedcf3f000000c0437c94bf0000808a215dd4bf000000a6b6d6d1bf00000078b004d9bf00000060dba0963f000000f642c2d2bf00000018af33a9bf0000006bc694c2bf000080e15d1ac9bf00000077a793d53f000000be46f7c6bf000000a477cbe5bf000000bcb771c2bf0000003015238fbf000000f0cbf9dc3f000080752116cebf0000a0f11189d4bf00000040446d7abf0000007af699e43f0000805dd4c8d43f000000ac0901dcbf000000dc45deddbf000000f2e1c9b3bf000000b478b2bebf000080ae02a3cb3f0000004e256adebf000080011ab9d53f0000008be5ffe0bf0000003eba5ad83f000000e6e4e4c93f0000401dd423d13f000080eb6001983f00000050da7bdf3f000060908d7ca9bf000000cbcbd4e03f000000c6ba1ac3bf000000ce3448d9bf000000f00699e13f000000f47256e2bf000020e90f53d0bf0000409bf050b6bf0000809908bdc1bf0000001bb73bd03f0000003ad274e03f000000ac8896b43f00000000f184ddbf004025b31a26c93f00000073e4cadbbf0000802c7455d3bf00000050f5d8833f000000ee032ae13f000000f2cf1de9bf0000007092e1bb3f0000c0ea2bb3d03f00000077a6e9cb3f00000058cbd4debf00000094988cd33f000000a0efa79cbf000000838cc0c6bf000000b42477ca3f00000032e473e13f00008041ac6ecfbf000040a9e0b4e23f00000020696c80bf000000714fc1db3f00008037d6cec33f000000e493a9803f000000c8ab61e2bf00008090ee13d2bf00008021e0b2d2bf00000081eaa4e03f000000d06623d1bf0000400ea0efc43f0000009ab5efd43f000000f6161cdcbf00008013cd0dcc3f00000038156fd33f0000008bda7ed9bf000000cab2bfd6bf000000d485b7d33f0000c0e37050bcbf000020723653d23f0000002c28e6e3bf000000cb1482c6bf0000007f12e3d5bf000000ca702cc13f0000005caf67dc3f00000061d2dce23f00004078f445b7bf000000ca6bccce3f000060caf9cbc93f0000a81e9e17d53f0000b097de69c83f000040c53b74c13f0000809f84fadcbf000040edf44fd2bf000000d88352d53f000000e82e07a43f00000074fa10ccbf000000e2ae33e0bf000020476961c0bf00000003223cc7bf0000f085feb5cf3f000000043720dd3f0000005ae11ba93f000080fdbcd7c63f0000003a651ac6bf00000056bf2eaabf000000d50649b13f000080aa255adbbf0000007d8d23d03f0000008efeeec6bf000000b0c4dad5bf000000d259a2dc3f000000f4dd56e73f0000804f7eded7bf000000601872e03f000000dea326be3f000000840146d9bf000000507441f03f000048a67cd6d8bf00000068a5f5d63f000000f61961dbbf0000003cba42dc3f0000c014f3b4c8bf0000006032c9cd3f000000944196d23f00000078732dd5bf0000001a7d56e53f000000f42b93da3f0000006061a59d3f0000003be8bcd6bf000000b07bbabf3f000000829da4c7bf0000389ed918e13f000000d071ccb33f0000000c2fe3d43f00000078e8f4e7bf000000dad6f0cbbf000000654de7cabf000050370804d7bf00000098364ea8bf000000671e0db73f000000001a887a3f000040fd00199ebf0000c00a33acc9bf000000c55a5bcd3f000000727597b53f000000898446cc3f00000024bac5dd3f000000ee6317b93f000000827e30e43f000000b2a798d9bf000000021331c8bf0000800a4bf4d13f00000044b7c6d93f00000030001fe03f000040e9b7cdd23f0000001a2886e13f0000005f4335d13f0000c083efdaca3f000000382e3ca7bf00000016659cad3f0000002c51a2acbf0000800045c8d4bf000000e086925d3f000000b8ff3ad73f000000fed157ed3f000000ca9699c2bf00000090d0ec81bf000000527800d93f000000fb11fecb3f000000bf0cc9e13f0000004d4211d3bf000000cc817db73f0000404ded1bc73f000000571253babf0000807f6a2bd7bf000000c1c223d93f000080edc2e1dabf000000862ed79d3f00000084bb85e13f', 10, 1);


--
-- Data for Name: facets; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.facets VALUES (1, 'datasource=shop', 10);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop', 8);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop', 9);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.customers', 1);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.customers', 2);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.orders', 3);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.orders', 4);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.orders', 5);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.orders', 6);
INSERT INTO recollect_old.facets VALUES (1, 'in=shop.orders', 7);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 1);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 2);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 3);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 4);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 5);
INSERT INTO recollect_old.facets VALUES (1, 'is=column', 6);
INSERT INTO recollect_old.facets VALUES (1, 'is=datasource', 10);
INSERT INTO recollect_old.facets VALUES (1, 'is=measure', 7);
INSERT INTO recollect_old.facets VALUES (1, 'is=model', 8);
INSERT INTO recollect_old.facets VALUES (1, 'is=model', 9);
INSERT INTO recollect_old.facets VALUES (1, 'model=customers', 8);
INSERT INTO recollect_old.facets VALUES (1, 'model=orders', 9);
INSERT INTO recollect_old.facets VALUES (1, 'name:amount', 5);
INSERT INTO recollect_old.facets VALUES (1, 'name:countri', 2);
INSERT INTO recollect_old.facets VALUES (1, 'name:custom', 8);
INSERT INTO recollect_old.facets VALUES (1, 'name:custom countri', 2);
INSERT INTO recollect_old.facets VALUES (1, 'name:custom id', 1);
INSERT INTO recollect_old.facets VALUES (1, 'name:custom id', 4);
INSERT INTO recollect_old.facets VALUES (1, 'name:id', 1);
INSERT INTO recollect_old.facets VALUES (1, 'name:id', 3);
INSERT INTO recollect_old.facets VALUES (1, 'name:is return', 6);
INSERT INTO recollect_old.facets VALUES (1, 'name:order', 9);
INSERT INTO recollect_old.facets VALUES (1, 'name:order amount', 5);
INSERT INTO recollect_old.facets VALUES (1, 'name:order custom id', 4);
INSERT INTO recollect_old.facets VALUES (1, 'name:order id', 3);
INSERT INTO recollect_old.facets VALUES (1, 'name:order is return', 6);
INSERT INTO recollect_old.facets VALUES (1, 'name:order revenu', 7);
INSERT INTO recollect_old.facets VALUES (1, 'name:revenu', 7);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop', 10);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop custom', 8);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop custom countri', 2);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop custom id', 1);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order', 9);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order amount', 5);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order custom id', 4);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order id', 3);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order is return', 6);
INSERT INTO recollect_old.facets VALUES (1, 'name:shop order revenu', 7);
INSERT INTO recollect_old.facets VALUES (1, 'part=amount', 5);
INSERT INTO recollect_old.facets VALUES (1, 'part=country', 2);
INSERT INTO recollect_old.facets VALUES (1, 'part=customer_id', 4);
INSERT INTO recollect_old.facets VALUES (1, 'part=id', 1);
INSERT INTO recollect_old.facets VALUES (1, 'part=id', 3);
INSERT INTO recollect_old.facets VALUES (1, 'part=is_returned', 6);
INSERT INTO recollect_old.facets VALUES (1, 'part=revenue', 7);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop', 10);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.customers', 8);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.customers.country', 2);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.customers.id', 1);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders', 9);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders.amount', 5);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders.customer_id', 4);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders.id', 3);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders.is_returned', 6);
INSERT INTO recollect_old.facets VALUES (1, 'ref:shop.orders.revenue', 7);
INSERT INTO recollect_old.facets VALUES (2, 'tag:finance', 1);
INSERT INTO recollect_old.facets VALUES (2, 'tag:orders', 1);
INSERT INTO recollect_old.facets VALUES (2, 'tag:orders', 2);
INSERT INTO recollect_old.facets VALUES (2, 'unasked:t', 4);
INSERT INTO recollect_old.facets VALUES (2, 'name:custom', 7);
INSERT INTO recollect_old.facets VALUES (2, 'name:shop custom', 7);
INSERT INTO recollect_old.facets VALUES (2, 'ref:shop.customers', 7);


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: recollect_old; Owner: -
--



--
-- Data for Name: jobs; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.jobs VALUES (1, 'embed', 0, 0, 1772366401000000, NULL, NULL);


--
-- Data for Name: memories; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.memories VALUES (1, 1, 'shop.customers.id', 1, 1772366401000000, 't', '636f7fb0d34b140ed6a93486fdeacf0c', 'reference', 'entity', 'shop.customers.id', NULL, 'shop.customers.id
column, INT, primary key', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers.id","kind":"column","name":"id","parent":"shop.customers"}}', '["shop.customers.id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 2, 'shop.customers.country', 1, 1772366401000000, 't', '3743192f8ed51bad7084099708fde291', 'reference', 'entity', 'shop.customers.country', NULL, 'shop.customers.country
column, TEXT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers.country","kind":"column","name":"country","parent":"shop.customers"}}', '["shop.customers.country"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 3, 'shop.orders.id', 1, 1772366401000000, 't', '30212df4ade0db32ae126a9cae83f2ca', 'reference', 'entity', 'shop.orders.id', NULL, 'shop.orders.id
column, INT, primary key', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.id","kind":"column","name":"id","parent":"shop.orders"}}', '["shop.orders.id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 4, 'shop.orders.customer_id', 1, 1772366401000000, 't', '48115c6323c6938897e0721b2b0e880c', 'reference', 'entity', 'shop.orders.customer_id', NULL, 'shop.orders.customer_id
column, INT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.customer_id","kind":"column","name":"customer_id","parent":"shop.orders"}}', '["shop.orders.customer_id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 5, 'shop.orders.amount', 1, 1772366401000000, 't', '1b52d2b91efec40377f5b97893775c84', 'reference', 'entity', 'shop.orders.amount', NULL, 'shop.orders.amount
column, DOUBLE
description: Gross amount in cents.', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.amount","kind":"column","name":"amount","parent":"shop.orders"}}', '["shop.orders.amount"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 6, 'shop.orders.is_returned', 1, 1772366401000000, 't', 'a0d94686ae98a9f77f3f3616f287712f', 'reference', 'entity', 'shop.orders.is_returned', NULL, 'shop.orders.is_returned
column, INT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.is_returned","kind":"column","name":"is_returned","parent":"shop.orders"}}', '["shop.orders.is_returned"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 7, 'shop.orders.revenue', 1, 1772366401000000, 't', '678cde41114ceb6e354b2d6b6af3f47b', 'reference', 'entity', 'shop.orders.revenue', NULL, 'shop.orders.revenue
measure
description: What customers paid.
formula: amount:sum', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.revenue","kind":"measure","name":"revenue","parent":"shop.orders"}}', '["shop.orders.revenue"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 8, 'shop.customers', 1, 1772366401000000, 't', 'c56b39efadf99c3cd52979a96ff0c649', 'reference', 'entity', 'shop.customers', NULL, 'shop.customers
description: Everyone who has an account.
table: public.customers
columns: id, country', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers","kind":"model","name":"customers","parent":"shop","fingerprint":"1.777488285d10cb5a7b4444b87035ca33e899986df3a5e89b40f609293fae4609","document":{"datasource":"shop","name":"customers","form":"table","description":"Everyone who has an account.","state":"present","parts":[{"name":"id","kind":"column","type":"INT","details":{"primary_key":true}},{"name":"country","kind":"column","type":"TEXT"}],"details":{"sql_table":"public.customers"}}}}', '["shop.customers"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 9, 'shop.orders', 1, 1772366401000000, 't', 'd2008ee1944bedbc85d6e4c76a09bd4d', 'reference', 'entity', 'shop.orders', NULL, 'shop.orders
description: Every order, one row each.
table: public.orders
columns: id, customer_id, amount, is_returned
measures: revenue
joins: customers (customer_id = id)', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders","kind":"model","name":"orders","parent":"shop","fingerprint":"1.4c297d1c56ecf86c1be1cce90b87f4f8c344f06e08fe03742f7cede9bfddf9cc","document":{"datasource":"shop","name":"orders","form":"table","description":"Every order, one row each.","state":"present","parts":[{"name":"id","kind":"column","type":"INT","details":{"primary_key":true}},{"name":"customer_id","kind":"column","type":"INT"},{"name":"amount","kind":"column","description":"Gross amount in cents.","type":"DOUBLE"},{"name":"is_returned","kind":"column","type":"INT"},{"name":"revenue","kind":"measure","description":"What customers paid.","details":{"formula":"amount:sum"}}],"joins":[{"target":"customers","pairs":[["customer_id","id"]],"kind":"left"}],"details":{"sql_table":"public.orders"}}}}', '["shop.orders"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (1, 10, 'shop', 1, 1772366401000000, 't', '9794d10d3219c66b5d5e5a1886225359', 'reference', 'entity', 'shop', NULL, 'shop
description: The database of the shop.
models: customers, orders', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop","kind":"datasource","name":"shop","origin":"/tmp/shop","document":{"name":"shop","description":"The database of the shop.","details":{"type":"postgres"}}}}', '["shop"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 2, '2', 1, 1772366408000000, 't', '7ef8a27a6d96a65da10b203ce91ae487', 'learning', 'knowledge', 'NULL in orders.is_returned means not returned.', NULL, 'NULL in orders.is_returned means not returned.', '["orders"]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366408000000, 1772366408000000, 1772366408000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 3, '3', 1, 1772366411000000, 't', '5db0330cae29c6e52e0240ec56ca50fb', 'fact', 'knowledge', 'Revenue is gross since May.', NULL, 'Revenue is gross since May.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366411000000, 1772366411000000, 1772323200000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 1, '1', 2, 1772366411000000, 't', 'a4f4d4decadaf3aaebdedcea541c2721', 'decision', 'event', 'Revenue is net of refunds: use orders.amount_net.', NULL, 'Revenue is net of refunds: use orders.amount_net.', '["orders","finance"]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366405000000, 1772366411000000, 1772366405000000, 1772366405000000, NULL, 'superseded', 'superseded by 3', false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 4, 'kb.deploys', 2, 1772366416000000, 't', '1e41e7390cf6d41091a4a7d36fbd23d2', 'fact', 'knowledge', 'When may one deploy?', 'When may one deploy?', 'Deploys are frozen on Fridays and before holidays.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366414000000, 1772366416000000, 1772366414000000, NULL, NULL, 'active', NULL, true, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 5, '4', 1, 1772366419000000, 'u:ann', 'fd9187a3a31ff27c36e0bfac44b2b7ff', 'fact', 'knowledge', 'Кириллица, 日本語 and naïve <b>tags</b> 🐦 stay as they are.', NULL, 'Кириллица, 日本語 and naïve <b>tags</b> 🐦 stay as they are.', '[]', NULL, 'medium', NULL, '{"a":{"b":[1,null,2.5]}}', '[]', NULL, NULL, 'user', 'ann', NULL, NULL, NULL, 'person', 1772366419000000, 1772366419000000, 1772366419000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 6, 'gone', 2, 1772366426000000, 't', 'cb91c8b5a82b73ffb3631b16f7e716b1', 'fact', 'knowledge', 'Gone soon.', NULL, 'Gone soon.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366425000000, 1772366426000000, 1772366425000000, 1772366426000000, NULL, 'archived', 'It is over.', false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (3, 1, '1', 1, 1772366429000000, 'g', '48cb9aa9f0720c4681c469e8e5779c2d', 'fact', 'knowledge', 'Everyone should know this.', NULL, 'Everyone should know this.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'global', 'ann', NULL, NULL, NULL, 'person', 1772366429000000, 1772366429000000, 1772366429000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 7, '5', 1, 1772366432000000, 't', '47fac47b90261d233666c64393e35295', 'fact', 'knowledge', 'The customers table has one row a customer.', NULL, 'The customers table has one row a customer.', '[]', NULL, 'medium', NULL, '{}', '["shop.customers"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366432000000, 1772366432000000, 1772366432000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (4, 1, '1', 1, 1772366443000000, 't', 'b972d998d928340a8b7f4965dcb11ef4', 'fact', 'knowledge', 'What acme knows.', NULL, 'What acme knows.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'carl', NULL, NULL, NULL, 'person', 1772366443000000, 1772366443000000, 1772366443000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.memories VALUES (2, 8, 'proposal', 1, 1772366446000000, 't', '9ff00897ede3ad44708af9982e252bfb', 'fact', 'knowledge', 'Refunds take a week.', NULL, 'Refunds take a week.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'unattended', 1772366446000000, 1772366446000000, 1772366446000000, NULL, NULL, 'pending', NULL, false, NULL, NULL);


--
-- Data for Name: models; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.models VALUES (1, 'e5-small-int8', 384, '172ba5bad9a3387bedb4c2f4edd4ce308a905d1ed7a423ad6c5fe640848dd17e');


--
-- Data for Name: numbers; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.numbers VALUES ('default', 'conversation row', 1);
INSERT INTO recollect_old.numbers VALUES ('default', 'artifact', 1);
INSERT INTO recollect_old.numbers VALUES ('default', 'scratchpad block', 1);


--
-- Data for Name: postings; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.postings VALUES (1, 'account', 't', 8, 4, 14, '\x0700');
INSERT INTO recollect_old.postings VALUES (1, 'amount', 't', 5, 8, 10, '\x02000700');
INSERT INTO recollect_old.postings VALUES (1, 'amount', 't', 7, 4, 11, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'amount', 't', 9, 4, 25, '\x0f00');
INSERT INTO recollect_old.postings VALUES (1, 'an', 't', 8, 4, 14, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'cent', 't', 5, 4, 10, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 1, 4, 7, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 2, 4, 5, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 3, 4, 7, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 4, 4, 6, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 5, 4, 10, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 6, 4, 6, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 8, 4, 14, '\x0b00');
INSERT INTO recollect_old.postings VALUES (1, 'column', 't', 9, 4, 25, '\x0b00');
INSERT INTO recollect_old.postings VALUES (1, 'countri', 't', 2, 4, 5, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'countri', 't', 8, 4, 14, '\x0d00');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 1, 4, 7, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 2, 4, 5, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 4, 4, 6, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 7, 4, 11, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 8, 8, 14, '\x01000a00');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 9, 12, 25, '\x0d0015001600');
INSERT INTO recollect_old.postings VALUES (1, 'custom', 't', 10, 4, 10, '\x0800');
INSERT INTO recollect_old.postings VALUES (1, 'customerid', 't', 4, 4, 6, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'customerid', 't', 9, 8, 25, '\x0d001600');
INSERT INTO recollect_old.postings VALUES (1, 'databas', 't', 10, 4, 10, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'descript', 't', 5, 4, 10, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'descript', 't', 7, 4, 11, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'descript', 't', 8, 4, 14, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'descript', 't', 9, 4, 25, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'descript', 't', 10, 4, 10, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'doubl', 't', 5, 4, 10, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'each', 't', 9, 4, 25, '\x0700');
INSERT INTO recollect_old.postings VALUES (1, 'everi', 't', 9, 4, 25, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'everyon', 't', 8, 4, 14, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'formula', 't', 7, 4, 11, '\x0800');
INSERT INTO recollect_old.postings VALUES (1, 'gross', 't', 5, 4, 10, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'has', 't', 8, 4, 14, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'id', 't', 1, 4, 7, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'id', 't', 3, 4, 7, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'id', 't', 4, 4, 6, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'id', 't', 8, 4, 14, '\x0c00');
INSERT INTO recollect_old.postings VALUES (1, 'id', 't', 9, 16, 25, '\x0c000e0017001800');
INSERT INTO recollect_old.postings VALUES (1, 'in', 't', 5, 4, 10, '\x0800');
INSERT INTO recollect_old.postings VALUES (1, 'int', 't', 1, 4, 7, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'int', 't', 3, 4, 7, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'int', 't', 4, 4, 6, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'int', 't', 6, 4, 6, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'is', 't', 6, 4, 6, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'is', 't', 9, 4, 25, '\x1000');
INSERT INTO recollect_old.postings VALUES (1, 'isreturn', 't', 6, 4, 6, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'isreturn', 't', 9, 4, 25, '\x1000');
INSERT INTO recollect_old.postings VALUES (1, 'join', 't', 9, 4, 25, '\x1400');
INSERT INTO recollect_old.postings VALUES (1, 'key', 't', 1, 4, 7, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'key', 't', 3, 4, 7, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'measur', 't', 7, 4, 11, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'measur', 't', 9, 4, 25, '\x1200');
INSERT INTO recollect_old.postings VALUES (1, 'model', 't', 10, 4, 10, '\x0700');
INSERT INTO recollect_old.postings VALUES (1, 'of', 't', 10, 4, 10, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'one', 't', 9, 4, 25, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 3, 4, 7, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 4, 4, 6, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 5, 4, 10, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 6, 4, 6, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 7, 4, 11, '\x0100');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 9, 12, 25, '\x010004000a00');
INSERT INTO recollect_old.postings VALUES (1, 'order', 't', 10, 4, 10, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'paid', 't', 7, 4, 11, '\x0700');
INSERT INTO recollect_old.postings VALUES (1, 'primari', 't', 1, 4, 7, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'primari', 't', 3, 4, 7, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'public', 't', 8, 4, 14, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'public', 't', 9, 4, 25, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'publiccustom', 't', 8, 4, 14, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'publicord', 't', 9, 4, 25, '\x0900');
INSERT INTO recollect_old.postings VALUES (1, 'return', 't', 6, 4, 6, '\x0300');
INSERT INTO recollect_old.postings VALUES (1, 'return', 't', 9, 4, 25, '\x1100');
INSERT INTO recollect_old.postings VALUES (1, 'revenu', 't', 7, 4, 11, '\x0200');
INSERT INTO recollect_old.postings VALUES (1, 'revenu', 't', 9, 4, 25, '\x1300');
INSERT INTO recollect_old.postings VALUES (1, 'row', 't', 9, 4, 25, '\x0600');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 1, 4, 7, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 2, 4, 5, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 3, 4, 7, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 4, 4, 6, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 5, 4, 10, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 6, 4, 6, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 7, 4, 11, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 8, 4, 14, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 9, 4, 25, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shop', 't', 10, 8, 10, '\x00000600');
INSERT INTO recollect_old.postings VALUES (1, 'shopcustom', 't', 8, 4, 14, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopcustomerscountri', 't', 2, 4, 5, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopcustomersid', 't', 1, 4, 7, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopord', 't', 9, 4, 25, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopordersamount', 't', 5, 4, 10, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shoporderscustomerid', 't', 4, 4, 6, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopordersid', 't', 3, 4, 7, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopordersisreturn', 't', 6, 4, 6, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'shopordersrevenu', 't', 7, 4, 11, '\x0000');
INSERT INTO recollect_old.postings VALUES (1, 'sum', 't', 7, 4, 11, '\x0a00');
INSERT INTO recollect_old.postings VALUES (1, 'tabl', 't', 8, 4, 14, '\x0800');
INSERT INTO recollect_old.postings VALUES (1, 'tabl', 't', 9, 4, 25, '\x0800');
INSERT INTO recollect_old.postings VALUES (1, 'text', 't', 2, 4, 5, '\x0400');
INSERT INTO recollect_old.postings VALUES (1, 'the', 't', 10, 8, 10, '\x02000500');
INSERT INTO recollect_old.postings VALUES (1, 'what', 't', 7, 4, 11, '\x0500');
INSERT INTO recollect_old.postings VALUES (1, 'who', 't', 8, 4, 14, '\x0400');
INSERT INTO recollect_old.postings VALUES (2, 'amount', 't', 1, 4, 11, '\x4900');
INSERT INTO recollect_old.postings VALUES (2, 'amountnet', 't', 1, 4, 11, '\x4900');
INSERT INTO recollect_old.postings VALUES (2, 'financ', 't', 1, 8, 11, '\x2100');
INSERT INTO recollect_old.postings VALUES (2, 'is', 't', 1, 4, 11, '\x4300');
INSERT INTO recollect_old.postings VALUES (2, 'net', 't', 1, 8, 11, '\x44004a00');
INSERT INTO recollect_old.postings VALUES (2, 'of', 't', 1, 4, 11, '\x4500');
INSERT INTO recollect_old.postings VALUES (2, 'order', 't', 1, 12, 11, '\x00004800');
INSERT INTO recollect_old.postings VALUES (2, 'ordersamountnet', 't', 1, 4, 11, '\x4800');
INSERT INTO recollect_old.postings VALUES (2, 'refund', 't', 1, 4, 11, '\x4600');
INSERT INTO recollect_old.postings VALUES (2, 'revenu', 't', 1, 4, 11, '\x4200');
INSERT INTO recollect_old.postings VALUES (2, 'use', 't', 1, 4, 11, '\x4700');
INSERT INTO recollect_old.postings VALUES (2, 'in', 't', 2, 4, 9, '\x2200');
INSERT INTO recollect_old.postings VALUES (2, 'is', 't', 2, 4, 9, '\x2400');
INSERT INTO recollect_old.postings VALUES (2, 'isreturn', 't', 2, 4, 9, '\x2400');
INSERT INTO recollect_old.postings VALUES (2, 'mean', 't', 2, 4, 9, '\x2600');
INSERT INTO recollect_old.postings VALUES (2, 'not', 't', 2, 4, 9, '\x2700');
INSERT INTO recollect_old.postings VALUES (2, 'null', 't', 2, 4, 9, '\x2100');
INSERT INTO recollect_old.postings VALUES (2, 'order', 't', 2, 12, 9, '\x00002300');
INSERT INTO recollect_old.postings VALUES (2, 'ordersisreturn', 't', 2, 4, 9, '\x2300');
INSERT INTO recollect_old.postings VALUES (2, 'return', 't', 2, 8, 9, '\x25002800');
INSERT INTO recollect_old.postings VALUES (2, '1', 't', 3, 4, 8, '\x2500');
INSERT INTO recollect_old.postings VALUES (2, '2026', 't', 3, 4, 8, '\x2700');
INSERT INTO recollect_old.postings VALUES (2, 'gross', 't', 3, 4, 8, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, 'is', 't', 3, 4, 8, '\x0100');
INSERT INTO recollect_old.postings VALUES (2, 'march', 't', 3, 4, 8, '\x2600');
INSERT INTO recollect_old.postings VALUES (2, 'may', 't', 3, 4, 8, '\x0400');
INSERT INTO recollect_old.postings VALUES (2, 'revenu', 't', 3, 4, 8, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, 'sinc', 't', 3, 4, 8, '\x0300');
INSERT INTO recollect_old.postings VALUES (2, 'and', 't', 4, 4, 12, '\x2900');
INSERT INTO recollect_old.postings VALUES (2, 'are', 't', 4, 4, 12, '\x2500');
INSERT INTO recollect_old.postings VALUES (2, 'befor', 't', 4, 4, 12, '\x2a00');
INSERT INTO recollect_old.postings VALUES (2, 'deploy', 't', 4, 14, 12, '\x03002400');
INSERT INTO recollect_old.postings VALUES (2, 'friday', 't', 4, 4, 12, '\x2800');
INSERT INTO recollect_old.postings VALUES (2, 'frozen', 't', 4, 4, 12, '\x2600');
INSERT INTO recollect_old.postings VALUES (2, 'holiday', 't', 4, 4, 12, '\x2b00');
INSERT INTO recollect_old.postings VALUES (2, 'may', 't', 4, 10, 12, '\x0100');
INSERT INTO recollect_old.postings VALUES (2, 'on', 't', 4, 4, 12, '\x2700');
INSERT INTO recollect_old.postings VALUES (2, 'one', 't', 4, 10, 12, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, 'when', 't', 4, 10, 12, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, 'and', 'u:ann', 5, 4, 13, '\x0400');
INSERT INTO recollect_old.postings VALUES (2, 'are', 'u:ann', 5, 4, 13, '\x0c00');
INSERT INTO recollect_old.postings VALUES (2, 'as', 'u:ann', 5, 4, 13, '\x0a00');
INSERT INTO recollect_old.postings VALUES (2, 'b', 'u:ann', 5, 8, 13, '\x06000800');
INSERT INTO recollect_old.postings VALUES (2, 'naiv', 'u:ann', 5, 4, 13, '\x0500');
INSERT INTO recollect_old.postings VALUES (2, 'stay', 'u:ann', 5, 4, 13, '\x0900');
INSERT INTO recollect_old.postings VALUES (2, 'tag', 'u:ann', 5, 4, 13, '\x0700');
INSERT INTO recollect_old.postings VALUES (2, 'they', 'u:ann', 5, 4, 13, '\x0b00');
INSERT INTO recollect_old.postings VALUES (2, 'кириллица', 'u:ann', 5, 4, 13, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, '日', 'u:ann', 5, 4, 13, '\x0100');
INSERT INTO recollect_old.postings VALUES (2, '日本', 'u:ann', 5, 4, 13, '\x0100');
INSERT INTO recollect_old.postings VALUES (2, '本', 'u:ann', 5, 4, 13, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, '本語', 'u:ann', 5, 4, 13, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, '語', 'u:ann', 5, 4, 13, '\x0300');
INSERT INTO recollect_old.postings VALUES (2, 'gone', 't', 6, 4, 2, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, 'soon', 't', 6, 4, 2, '\x0100');
INSERT INTO recollect_old.postings VALUES (3, 'everyon', 'g', 1, 4, 4, '\x0000');
INSERT INTO recollect_old.postings VALUES (3, 'know', 'g', 1, 4, 4, '\x0200');
INSERT INTO recollect_old.postings VALUES (3, 'should', 'g', 1, 4, 4, '\x0100');
INSERT INTO recollect_old.postings VALUES (3, 'this', 'g', 1, 4, 4, '\x0300');
INSERT INTO recollect_old.postings VALUES (2, 'a', 't', 7, 4, 8, '\x0600');
INSERT INTO recollect_old.postings VALUES (2, 'custom', 't', 7, 8, 8, '\x01000700');
INSERT INTO recollect_old.postings VALUES (2, 'has', 't', 7, 4, 8, '\x0300');
INSERT INTO recollect_old.postings VALUES (2, 'one', 't', 7, 4, 8, '\x0400');
INSERT INTO recollect_old.postings VALUES (2, 'row', 't', 7, 4, 8, '\x0500');
INSERT INTO recollect_old.postings VALUES (2, 'tabl', 't', 7, 4, 8, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, 'the', 't', 7, 4, 8, '\x0000');
INSERT INTO recollect_old.postings VALUES (4, 'acm', 't', 1, 4, 3, '\x0100');
INSERT INTO recollect_old.postings VALUES (4, 'know', 't', 1, 4, 3, '\x0200');
INSERT INTO recollect_old.postings VALUES (4, 'what', 't', 1, 4, 3, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, 'a', 't', 8, 4, 4, '\x0200');
INSERT INTO recollect_old.postings VALUES (2, 'refund', 't', 8, 4, 4, '\x0000');
INSERT INTO recollect_old.postings VALUES (2, 'take', 't', 8, 4, 4, '\x0100');
INSERT INTO recollect_old.postings VALUES (2, 'week', 't', 8, 4, 4, '\x0300');


--
-- Data for Name: recollect_version; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.recollect_version VALUES ('0004');


--
-- Data for Name: relations; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.relations VALUES (2, 1, 3, 'supersedes', 1, 1772366411000000, 'ann', NULL, NULL);
INSERT INTO recollect_old.relations VALUES (2, 2, 2, 'supports', 3, 1772366420000000, 'ann', NULL, NULL);
INSERT INTO recollect_old.relations VALUES (2, 3, 2, 'refines', 4, 1772366421000000, 'ann', 1772366422000000, 'ann');


--
-- Data for Name: scratchpads; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.scratchpads VALUES ('default', 'planner', 1, 46, 1772366435000000, '
<!-- 2026-03-01 12:00:35 -->
A working note.
');


--
-- Data for Name: store_facts; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.store_facts VALUES ('index', '3.2');


--
-- Data for Name: tenants; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.tenants VALUES (1, 'catalog:default', '0', 10, 0, 1, 10, 101);
INSERT INTO recollect_old.tenants VALUES (3, 'global', '1', 1, 0, 1, 1, 4);
INSERT INTO recollect_old.tenants VALUES (4, 'acme', '1', 1, 0, 1, 1, 3);
INSERT INTO recollect_old.tenants VALUES (2, 'default', '5', 8, 3, 13, 8, 67);


--
-- Data for Name: terms; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.terms VALUES (1, 'account', 1);
INSERT INTO recollect_old.terms VALUES (1, 'amount', 3);
INSERT INTO recollect_old.terms VALUES (1, 'an', 1);
INSERT INTO recollect_old.terms VALUES (1, 'cent', 1);
INSERT INTO recollect_old.terms VALUES (1, 'column', 8);
INSERT INTO recollect_old.terms VALUES (1, 'countri', 2);
INSERT INTO recollect_old.terms VALUES (1, 'custom', 7);
INSERT INTO recollect_old.terms VALUES (1, 'customerid', 2);
INSERT INTO recollect_old.terms VALUES (1, 'databas', 1);
INSERT INTO recollect_old.terms VALUES (1, 'descript', 5);
INSERT INTO recollect_old.terms VALUES (1, 'doubl', 1);
INSERT INTO recollect_old.terms VALUES (1, 'each', 1);
INSERT INTO recollect_old.terms VALUES (1, 'everi', 1);
INSERT INTO recollect_old.terms VALUES (1, 'everyon', 1);
INSERT INTO recollect_old.terms VALUES (1, 'formula', 1);
INSERT INTO recollect_old.terms VALUES (1, 'gross', 1);
INSERT INTO recollect_old.terms VALUES (1, 'has', 1);
INSERT INTO recollect_old.terms VALUES (1, 'id', 5);
INSERT INTO recollect_old.terms VALUES (1, 'in', 1);
INSERT INTO recollect_old.terms VALUES (1, 'int', 4);
INSERT INTO recollect_old.terms VALUES (1, 'is', 2);
INSERT INTO recollect_old.terms VALUES (1, 'isreturn', 2);
INSERT INTO recollect_old.terms VALUES (1, 'join', 1);
INSERT INTO recollect_old.terms VALUES (1, 'key', 2);
INSERT INTO recollect_old.terms VALUES (1, 'measur', 2);
INSERT INTO recollect_old.terms VALUES (1, 'model', 1);
INSERT INTO recollect_old.terms VALUES (1, 'of', 1);
INSERT INTO recollect_old.terms VALUES (1, 'one', 1);
INSERT INTO recollect_old.terms VALUES (1, 'order', 7);
INSERT INTO recollect_old.terms VALUES (1, 'paid', 1);
INSERT INTO recollect_old.terms VALUES (1, 'primari', 2);
INSERT INTO recollect_old.terms VALUES (1, 'public', 2);
INSERT INTO recollect_old.terms VALUES (1, 'publiccustom', 1);
INSERT INTO recollect_old.terms VALUES (1, 'publicord', 1);
INSERT INTO recollect_old.terms VALUES (1, 'return', 2);
INSERT INTO recollect_old.terms VALUES (1, 'revenu', 2);
INSERT INTO recollect_old.terms VALUES (1, 'row', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shop', 10);
INSERT INTO recollect_old.terms VALUES (1, 'shopcustom', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopcustomerscountri', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopcustomersid', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopord', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopordersamount', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shoporderscustomerid', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopordersid', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopordersisreturn', 1);
INSERT INTO recollect_old.terms VALUES (1, 'shopordersrevenu', 1);
INSERT INTO recollect_old.terms VALUES (1, 'sum', 1);
INSERT INTO recollect_old.terms VALUES (1, 'tabl', 2);
INSERT INTO recollect_old.terms VALUES (1, 'text', 1);
INSERT INTO recollect_old.terms VALUES (1, 'the', 1);
INSERT INTO recollect_old.terms VALUES (1, 'what', 1);
INSERT INTO recollect_old.terms VALUES (1, 'who', 1);
INSERT INTO recollect_old.terms VALUES (2, 'amount', 1);
INSERT INTO recollect_old.terms VALUES (2, 'amountnet', 1);
INSERT INTO recollect_old.terms VALUES (2, 'financ', 1);
INSERT INTO recollect_old.terms VALUES (2, 'net', 1);
INSERT INTO recollect_old.terms VALUES (2, 'of', 1);
INSERT INTO recollect_old.terms VALUES (2, 'ordersamountnet', 1);
INSERT INTO recollect_old.terms VALUES (2, 'use', 1);
INSERT INTO recollect_old.terms VALUES (2, 'in', 1);
INSERT INTO recollect_old.terms VALUES (2, 'isreturn', 1);
INSERT INTO recollect_old.terms VALUES (2, 'mean', 1);
INSERT INTO recollect_old.terms VALUES (2, 'not', 1);
INSERT INTO recollect_old.terms VALUES (2, 'null', 1);
INSERT INTO recollect_old.terms VALUES (2, 'order', 2);
INSERT INTO recollect_old.terms VALUES (2, 'ordersisreturn', 1);
INSERT INTO recollect_old.terms VALUES (2, 'return', 1);
INSERT INTO recollect_old.terms VALUES (2, '1', 1);
INSERT INTO recollect_old.terms VALUES (2, '2026', 1);
INSERT INTO recollect_old.terms VALUES (2, 'gross', 1);
INSERT INTO recollect_old.terms VALUES (2, 'is', 3);
INSERT INTO recollect_old.terms VALUES (2, 'march', 1);
INSERT INTO recollect_old.terms VALUES (2, 'revenu', 2);
INSERT INTO recollect_old.terms VALUES (2, 'sinc', 1);
INSERT INTO recollect_old.terms VALUES (2, 'deploy', 1);
INSERT INTO recollect_old.terms VALUES (2, 'friday', 1);
INSERT INTO recollect_old.terms VALUES (2, 'frozen', 1);
INSERT INTO recollect_old.terms VALUES (2, 'may', 2);
INSERT INTO recollect_old.terms VALUES (2, 'on', 1);
INSERT INTO recollect_old.terms VALUES (2, 'when', 1);
INSERT INTO recollect_old.terms VALUES (2, 'befor', 1);
INSERT INTO recollect_old.terms VALUES (2, 'holiday', 1);
INSERT INTO recollect_old.terms VALUES (2, 'and', 2);
INSERT INTO recollect_old.terms VALUES (2, 'are', 2);
INSERT INTO recollect_old.terms VALUES (2, 'as', 1);
INSERT INTO recollect_old.terms VALUES (2, 'b', 1);
INSERT INTO recollect_old.terms VALUES (2, 'naiv', 1);
INSERT INTO recollect_old.terms VALUES (2, 'stay', 1);
INSERT INTO recollect_old.terms VALUES (2, 'tag', 1);
INSERT INTO recollect_old.terms VALUES (2, 'they', 1);
INSERT INTO recollect_old.terms VALUES (2, 'кириллица', 1);
INSERT INTO recollect_old.terms VALUES (2, '日', 1);
INSERT INTO recollect_old.terms VALUES (2, '日本', 1);
INSERT INTO recollect_old.terms VALUES (2, '本', 1);
INSERT INTO recollect_old.terms VALUES (2, '本語', 1);
INSERT INTO recollect_old.terms VALUES (2, '語', 1);
INSERT INTO recollect_old.terms VALUES (2, 'gone', 1);
INSERT INTO recollect_old.terms VALUES (2, 'soon', 1);
INSERT INTO recollect_old.terms VALUES (3, 'everyon', 1);
INSERT INTO recollect_old.terms VALUES (3, 'know', 1);
INSERT INTO recollect_old.terms VALUES (3, 'should', 1);
INSERT INTO recollect_old.terms VALUES (3, 'this', 1);
INSERT INTO recollect_old.terms VALUES (2, 'custom', 1);
INSERT INTO recollect_old.terms VALUES (2, 'has', 1);
INSERT INTO recollect_old.terms VALUES (2, 'one', 2);
INSERT INTO recollect_old.terms VALUES (2, 'row', 1);
INSERT INTO recollect_old.terms VALUES (2, 'tabl', 1);
INSERT INTO recollect_old.terms VALUES (2, 'the', 1);
INSERT INTO recollect_old.terms VALUES (4, 'acm', 1);
INSERT INTO recollect_old.terms VALUES (4, 'know', 1);
INSERT INTO recollect_old.terms VALUES (4, 'what', 1);
INSERT INTO recollect_old.terms VALUES (2, 'a', 2);
INSERT INTO recollect_old.terms VALUES (2, 'refund', 2);
INSERT INTO recollect_old.terms VALUES (2, 'take', 1);
INSERT INTO recollect_old.terms VALUES (2, 'week', 1);


--
-- Data for Name: vectors; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.vectors VALUES (2, 1, 1, 0, 't', 'a4f4d4decadaf3aaebdedcea541c2721', 1, '[0.04349186,-0.0163746,-0.075730346,-0.005379242,0.028819768,-0.063983545,-0.012222958,0.05078135,-0.06944559,0.059793886,0.015194882,-0.039353475,0.03519064,-0.05990212,0.006556305,-0.062049624,0.06395161,0.094308086,0.0016334065,0.028761454,-0.06644261,-0.024176506,0.02005102,-0.0326686,0.008379979,0.04326619,0.02167707,0.06482533,-0.01969269,-0.031429972,0.0082504535,-0.103742406,-0.041167416,0.027380772,0.0103357695,-0.07323645,-0.01441514,0.001579518,0.05027335,0.03665401,-0.042096257,0.006706528,-0.0014672322,0.020743966,0.00968687,-0.037044637,0.013712918,-0.0061741467,-0.021663453,0.08955262,0.055482425,-0.055588257,0.047221277,0.05074439,-0.05667999,-0.090424396,-0.08086187,-0.07698459,-0.02723928,0.037124295,0.0029909292,0.0015146577,-0.04949028,-0.018930128,-0.051624704,0.017624866,-0.08382914,0.01390676,0.013097906,0.034338735,-0.039680373,0.03264728,-0.06185015,-0.063609526,0.0068060663,0.048947673,-0.010765131,0.044425707,0.0062841577,-0.06709523,0.032082673,0.018302098,-0.0307779,-0.02649055,0.021068228,0.06458246,0.02176616,-0.015663119,-0.017453028,0.06877718,0.031172046,0.018110905,-0.02642457,0.07816177,-0.04797182,0.04128551,0.010346862,-0.062026024,0.07334013,0.06299003,-0.024836494,0.0077146525,-0.03880663,0.011621759,0.038512737,0.013661846,-0.011055395,0.055853944,0.07557722,-0.02525218,-0.040541112,0.017941078,-0.050945856,-0.01558846,0.029896965,-0.009580497,-0.013065943,0.060662642,-0.05174871,-0.009851644,-0.0960373,-0.0158438,0.06659041,0.04694851,0.03660546,-0.029190253,0.0041817324,-0.026187144,-0.076787874,-0.07100829,0.05232377,-0.065247275,-0.026368678,0.0003228384,-0.07132602,-0.08884536,-0.059106443,-0.035029672,0.053198077,0.019810705,0.020342683,0.02964497,0.03221728,-0.0021870339,0.020116514,-0.06688879,0.012295613,-0.028714921,-0.047437176,-0.0022638908,-0.024358654,-0.055271395,-0.049938075,-0.089916475,-0.08961355,-0.042631738,-0.08473641,0.047250416,-0.008438274,-0.06501055,-0.11070069,-0.0013426258,0.1726416,0.052620232,-0.05439639,0.0104479445,0.032662723,0.06752554,-0.046812955,-0.06782912,0.09783135,-0.04506084,0.033884197,0.0074843145,0.055285744,-0.0887625,0.017727729,0.0064341477,-0.004911001,0.047169767,0.009052817,0.063580684,-0.00645447,-0.05826478,0.0039150203,-0.039146665,-0.09535641,-0.07147279,-0.09121165,-0.1591494,0.048203416,-0.021505808,0.00044561166,0.029776547,0.035870742,-0.015610915,-0.048515126,-0.12544565,0.005081699,-0.03091192,-0.010511208,0.008668389,-0.043455727,-0.043877155,-0.068774134,-0.08307542,0.020926539,-0.042486545,0.0093716355,0.0040239664,-0.0605128,0.04767617,-0.026545802,-0.11074869,0.0069087157,-0.027552532,0.05057135,-0.02490301,-0.031370007,0.0032821663,0.07471857,0.080166645,-0.061829213,-0.017802063,-0.027120735,-0.00613846,0.045886077,-0.08452141,0.059624158,-0.069380656,0.070099555,0.03539748,0.017016301,-0.00038792638,0.06581418,-0.03566134,0.077983245,-0.010866937,-0.077500395,0.097878404,-0.038673885,-0.021306058,0.030038342,-0.05020129,0.05646069,0.1193378,0.012560342,-0.08760633,0.054981332,-0.08951869,-0.06503647,0.009069106,0.09429785,-0.109942906,0.025331339,-0.00359457,0.024901524,-0.09737652,0.06674705,0.021538967,-0.021235088,0.0065827183,0.08116492,-0.029467646,0.105304964,0.0044696825,0.08177047,0.03764518,-0.0025713674,-0.08957235,-0.03838194,-0.031737477,0.09232367,-0.007752039,0.044988267,0.04731925,-0.049713813,0.015959887,0.027068404,-0.025309237,-0.06265873,0.06401189,-0.033014596,-0.0011691599,-0.0905636,-0.016934367,-0.04133238,0.040738687,0.03394215,0.08292222,-0.010036023,-0.013003765,0.051383182,0.030265445,0.00086871424,0.03861519,-0.105704226,-0.040323067,0.035377387,-0.004096962,-0.025908945,-0.039719272,-0.00046309974,-0.024266154,0.010700045,0.054747283,0.031368185,0.06578233,-0.019928832,0.0149882985,0.048762437,-0.04611867,0.04784766,-0.013184904,-0.022059275,0.047348037,0.09130812,-0.002934379,0.098776035,0.040301744,-0.094299406,0.12927388,-0.034913175,0.049397193,-0.040881217,0.034139246,-0.01612637,0.02221514,0.048665248,-0.021415075,0.08620407,0.03667239,-0.03153763,-0.013533246,0.0028675208,-0.03163973,0.08893599,0.021251539,0.08160741,-0.12475386,-0.015879378,-0.05729055,-0.06334891,-0.004713724,0.016352018,0.008312729,-0.03714459,-0.0018104938,0.005075469,-0.005479081,0.033159945,0.06735346,0.0076091136,0.03130495,-0.020670816,-0.03903394,0.03772866,0.06858037,0.05221251,-0.003275852,0.07554897,-0.009487051,0.05451798,0.015826445,0.009107459,-0.01715506,-0.10471508,-0.009925985,0.035856765,0.049696174,-0.015764885,0.029304693,0.03617326,0.06892378,0.024396827,-0.025590241,0.011505865,0.07607921,-0.022004073,-0.030135302,0.036025777,-0.05895021,-0.012592162,0.07405704]', '\xc9e6ffe80a1bf917e90001f203251812f40903ef181fe90320fdf20af8ec000213ff02f30104f4f90fff02f717040709000403070feef206ff030a0c0202050143e3e8dc0f01151a0c0c0419fa2a0403f500fe0cfffc030510fc0b06fa0ef7030d11f7f000fd010a130d03ed18010dfef904110002f4f4f706fbff08fd0b0404d1f8f2ec01fefdfd22220b31e21212100ffd0ffc0112f3f4f4f5f1e703faf6fc001600fced090dfb14040df6fd070314f3f908fdfdf90111f5e5f9fe010cf90c40e6edd70a11df20ecf5f217f5200a06fd110d100d03f902090300fbfaf905fd0908fcf601f50700130d0df70a031402fe0c090405f0f5fc08f10b10fffe0507d00a07dd040dfc04d7faf90fdffef60a0012f3f1ebe100f402feeaf001df10fafdfee10410f4f20c070205fa010e1213100114fb00e3f7030d08fd03fb0203fedc28efdb130add12dcf3fef1f70b0904fb0c02fb0702f6f90a06f707f0e81f1afefcfb140cf0fc12100313f60e020b070a0e12fd0ee4f7fffdf3fc10f801050351ebdfd70ffe11f50701f10fe01301f3fe02fd03ff0af6020806060df70dfbfb1208f5f2ff04010212fdfc0707fe1606000907050af400f808f60b0c000b040c25fa01b50bfe19090c05f007eb11ed06f9060517ee0e04f51611fbfd010801e901fcf6ec00f4f8f514f2fe0dfdfe16060304fd0a06f0fef5fefc1415fe120801d8ecffd504f2eb000dfe04020609110bf201f02c0de9051c01022b0504f011170afe10040cee19150511faf80913f905fcfb03fef9f4ffef06fb0b05f708fa123be2e8d514f8f80aee071c05f01910f206e8120ef51c0ef515fe1908fc0efaf6ff0bf9ee05fefff81ef908050303090802fffafd01fd07f404fb0803fa0cfe07d2f40ce5051e021be80a0bf8fe2e1103f10f0b201603f9030ce80cf106f7fa1a030511ed0dedf0f90e0012fd0ff60dfd0409f0faffecedfafefb1000fcfc00fc04dcfcea2f0bfe06e5201f090300fcfc14091d0df41a0bf60dfa13fff827f805f804f7f30108feecfaf10304f80f0e1d10eb0802050208eff4f7120404f6fd0eccf2f4f41100f001172e0d27e7040211180312f6f217faf5fa00eaf0fdfcfe06fb12000cfffd14f915011bf2fd0d0102eff910fe02fb0a03f5e801fcf910f5094cd1d1f01707f9f1f107ee0de62102f4070503020004f90bff000604f9f905ff060dfdf6080002ff0905fb010c080cfffc08050101fafbf4fdf40e0dfe01ff03');
INSERT INTO recollect_old.vectors VALUES (2, 1, 2, 0, 't', '7ef8a27a6d96a65da10b203ce91ae487', 2, '[0.10391252,-0.039299574,-0.037978478,0.014308633,0.0034611092,-0.09389451,-0.044685647,0.010784228,-0.08813715,0.0817638,-0.05636171,-0.0018252938,0.07812432,-0.025145266,-0.0011754595,-0.05616541,0.05883745,0.043281842,-0.01003755,-0.023310317,-0.06722969,0.013822058,0.007198735,0.0169461,0.004888863,0.070056036,0.0065634227,0.01713874,-0.014911483,0.019620512,-0.050045125,-0.053108953,-0.09086945,0.0035625473,-0.02522835,-0.071394786,-0.08469226,0.0026433293,0.025970174,0.03158496,-0.04860313,0.037769385,0.0076410677,0.040368192,0.013824054,-0.06899166,0.05730574,0.0095740445,-0.009656262,0.10603139,0.090480335,-0.035751913,0.015466368,0.044967845,-0.023821916,-0.087116785,-0.059930615,-0.04489183,-0.02017012,0.06025698,-0.003851128,-0.024761394,-0.008597743,0.034355912,-0.04537592,0.015162592,-0.042003334,0.044617444,-0.009031012,0.012573842,-0.08683352,0.05805931,-0.07249167,-0.024256533,-0.032758657,0.06499846,-0.050160453,0.029173972,0.06389711,-0.030194994,0.102001406,-0.0075560478,-0.055908915,0.017052034,0.05836631,0.04592161,0.07078412,0.02670315,0.013271742,0.046239,0.016484998,-0.01576535,-0.03597277,0.07939042,-0.01628177,0.04217547,0.023525773,-0.0241845,0.0071075377,0.113964625,-0.009003511,-0.036181394,-0.060603134,-0.023690514,0.006761538,0.022894831,-0.016300585,0.026965022,0.055441212,-0.026153762,-0.054795366,0.070870705,-0.07933609,-0.081487395,0.031782195,-0.009449712,-0.01029995,0.04622424,-0.083123334,-0.0948673,-0.08229529,0.03570588,0.057209816,0.030655578,0.044166908,-0.07233341,0.008969076,-0.06926618,-0.07184927,-0.05878082,0.021743206,-0.057092037,-0.013879171,-0.038139705,-0.024452487,-0.10183406,-0.06712815,-0.077794254,0.05939741,0.020771008,0.07228595,0.042621553,0.049055498,-0.002707956,-0.032815706,-0.05855438,-0.0016141167,-0.014437096,-0.085440524,0.030047432,0.0033849727,-0.04561382,-0.032167766,-0.06723765,-0.118804246,-0.057477243,-0.009353711,0.07003237,-0.01643738,-0.138487,-0.052143298,-0.018929647,0.1149486,0.018851986,-0.036579326,0.03157717,0.041242033,0.07941974,-0.066222176,-0.06251102,0.09816435,-0.02118872,0.053666774,0.02991296,0.031420883,-0.027659189,0.012060789,-0.0114186555,-0.046943005,0.02172598,0.014523767,-0.004954091,-0.019033557,-0.013977551,0.05671176,-0.05842167,-0.046911255,-0.043014456,-0.024107672,-0.09794626,0.02732673,-0.04019922,-0.040015917,0.04473047,0.07900016,0.0007846764,-0.05614017,-0.08374078,-0.027852394,-0.042045917,-0.0153932115,0.03563682,-0.028240073,-0.106311716,0.0064086933,-0.056383047,0.037529577,-0.04983582,-0.012545965,-0.06792414,-0.01350164,0.027354732,-0.0068442198,-0.13682932,0.007770415,-0.010379344,0.042127736,-0.046907965,-0.025619727,-0.0028636262,0.04284614,0.084017076,-0.06498767,-0.030626062,0.04088731,-0.0023043882,0.057661228,-0.07976992,0.043134943,-0.10488667,0.049686454,0.031972654,0.028640881,-0.0039969687,0.050680213,-0.016595874,0.08064344,-0.036576528,-0.04307002,0.073392995,-0.048503157,-0.04801301,-0.036136888,-0.022242278,-0.010223762,0.06513281,-0.0067299264,-0.04406345,0.0394642,-0.012191533,-0.04444004,0.059505925,0.06587641,-0.117537566,0.010899815,0.02471618,-0.0031979685,-0.044115577,0.066914134,0.02681777,-0.0033293017,0.048143078,0.034986734,-0.040328294,0.10118106,-0.021106943,0.034091853,-0.002401896,-0.036716435,-0.08883811,-0.003169308,-0.056478772,0.063966334,-0.00874185,0.045490254,0.049300294,-0.05894154,0.021905273,0.046966497,-0.06595306,-0.04276888,0.026884962,-0.020067556,0.022996912,-0.09878618,-0.030797485,-0.024917737,0.04150616,0.061190613,0.05370649,-0.031739395,0.005825796,0.058647554,0.074229054,0.00039625264,0.050442882,-0.07326032,-0.042032912,0.040835377,0.017524226,-0.05565039,-0.04782625,0.024024082,-0.026598006,0.07185462,0.1198599,0.006045135,0.02468401,-0.009738232,-0.039950263,0.011185382,-0.08653115,-0.011938694,-0.02548303,-0.012787392,0.04469831,0.11960357,-0.03775594,0.050874017,-0.05140424,-0.037895992,0.16746812,-0.06386201,0.03335157,-0.07186989,0.06810667,0.0023594252,0.010177992,0.013983565,-0.062964365,0.08915995,0.046222653,0.035845555,-0.015219762,0.022293875,0.00392277,0.1097376,0.0044521354,0.047809888,-0.07400146,-0.038206138,0.0060462514,-0.064343445,-0.0028125965,0.008095693,0.01630568,-0.0015989253,-0.07672236,0.026014362,0.011451095,0.028899536,0.049200345,0.0027653496,0.099044494,-0.015877914,-0.044084832,0.022786727,0.027364863,0.040956866,0.070297055,0.085474096,0.034238152,0.039757527,-0.044784747,-0.002596102,-0.002532083,-0.020899951,-0.0005937142,0.03698241,0.09282184,-0.0069015,0.015506199,0.027967354,0.03925752,0.06901317,-0.015600977,0.039244924,0.03681408,-0.027976029,-0.035698265,0.045058716,-0.06961428,0.015903948,0.037128128]', '\xe03dde12310c0c16f90a0809010b06fff3e01a05fd0bf6080cf00115feeefa09fffffbf4f5f4fe17ff0a0afd0dfd0bf8f604f7f601fc11070c000e05070908f73b05e8f62a19dc1af32308061406f60804fa020dfe0001190ff10bfd01f9e604fcff04eb0feb03130209fdf2fb0b0e04f504070c09ff0dff0ff50508f70403f9dcf402db06fdecf708fb0704110d2316f9f9f12e0ee10621fafb250607f6021403fc12000df310130011f9f41114fafdfaf5faf908fb0bf70d030efef404f90b3e1ee2f3350af4f8fc1dfbfffefefef9fdfefc05ef08f81418ed1113040ce709000803ee1afcfb020402f3f2f4fbfcfbf90603080bfd02fa0ffd060d000a03f10524000719f30e1c0a221b0e0f14eefaf800031005f5190e0901fdf6f8fa03ec150101ed20f2fc130018eaec140c1003d8f704f1f2fc040106f20705f7fe14eefbf101f82f100bfdea201b000ef207f812041f0df51cf9fe17ef1503fc29f1fff501eff20b0cfceaeff80003ec0f101b06e7010109030afef8fb120802f2ff07dd0800d80601e30ae5efeffdfceffd1101f00ff9011f06f716e7e721e9eff9f604fa00011fee030bf709e8ea060d0dfef8fa13fc11fa0af60efb120ffd04fff32915fde22c091d00081b07f711effdffff240d04eb12fc1010ed0f1106fbea0708fff8ed1efffb120717feef05ec0008f2f400030d0100ef100203f8fc0d03f2f45edd0a260c06fe080dfd081c01fd0600f5010ffffafa090cf40000fa00040006fefb091efb01ff07fcf7fbffff0b04f3000306030c0a0505f70307fdf80700e61100d51200e70ee90304fc0bf1f01504011908021b0afe0de1e917e9f0fbff00f10c0625f00909f70ae9e7060e19fff6f510000f0500f308f8120eff07f9fd49f9d2fb2f10edefed22f8f9f509fefc04fbfe02f103f61506f1071000f9f1fdfc0107ef15fc0303f607f4fd000901fcf30105050303fff909fb090afc01fff6');
INSERT INTO recollect_old.vectors VALUES (2, 1, 3, 0, 't', '5db0330cae29c6e52e0240ec56ca50fb', 3, '[0.048662357,-0.0049739094,-0.080209754,0.002310316,0.034456097,-0.051380984,-0.017204095,0.018777972,-0.08176258,0.014805443,-0.03491272,-0.040985074,0.022579566,-0.066812076,0.035731137,-0.051997762,0.04348215,0.07367813,-0.016775575,0.010415917,-0.07784305,-0.011215785,0.021157118,0.073161796,0.0131685715,0.04454206,0.037765834,0.05181889,0.030317191,-0.030935146,0.045338344,-0.08435732,-0.023362316,-0.016793067,-0.04891705,-0.041512188,-0.035578378,-0.019158887,-0.025906414,0.065442,-0.089114495,0.045560822,0.04243315,0.015596766,-0.002150634,-0.010197081,0.01610768,-0.001837371,-0.04682676,0.093964435,0.083613105,-0.057765767,0.025007663,0.031890847,-0.08366387,-0.09343317,-0.014779941,-0.07514837,-0.050064854,0.05072675,0.011771884,0.012621991,-0.0124433,-0.0253692,-0.07357625,0.024617115,-0.09920211,0.04499999,-0.026810594,0.061936706,-0.0021340484,0.028589115,-0.045884214,-0.039523587,0.0022342082,0.066584125,-0.0018919038,0.028919797,0.050596308,-0.09804363,0.027449006,-0.03072697,-0.013709365,-0.065761715,0.062664464,0.03827582,0.012244665,-0.0069981944,0.0027509336,0.09527738,0.03212661,-0.020529287,0.037070073,0.118257076,-0.05912301,0.054140292,0.009783385,-0.01030752,0.034911033,0.056439515,-0.028054183,-0.007028148,-0.024565851,-0.015578049,-0.076725,-0.0053641587,-0.085899055,0.07288889,0.025187824,-0.014659026,-0.06995916,0.058177397,-0.057463344,-0.045081884,-0.018541858,0.024331685,0.040209003,0.06629929,-0.06977474,-0.051998794,-0.041565824,-0.046315946,0.047368705,0.025716556,0.006054405,-0.03238003,0.005360349,-0.021667257,-0.065429494,-0.11352856,0.046731357,-0.107360095,-0.007699592,-0.0035382523,-0.056921676,-0.033165447,-0.02315766,-0.03209205,0.041489583,0.008284769,0.022565078,0.005214818,0.0504323,-0.07326914,-0.02876942,-0.047006648,0.071513765,0.030514486,-0.023230465,0.029096965,-0.08197787,-0.08759313,-0.058234528,-0.115785345,-0.05798904,-0.068137355,-0.07057257,-0.0036291948,0.010415709,-0.010647309,-0.096572846,0.018680241,0.16981363,0.010613345,-0.053879302,-0.03971741,0.03119388,0.052370586,-0.036808454,-0.06830574,0.12513824,0.010719126,0.022965873,0.0016566727,0.08335229,-0.04845255,0.0072187125,0.000446618,0.03946972,0.07325141,0.033040162,0.037777048,-0.00070280005,-0.041072648,-0.021417081,-0.062262308,-0.026928648,-0.08326266,-0.08494641,-0.13740945,0.010180219,-0.061427534,0.019163052,0.032445643,0.051709827,0.021136386,-0.060460214,-0.11809151,-0.058305964,-0.1108635,-0.016540233,-0.016185297,-0.01818781,-0.010964037,-0.054051105,-0.060613647,0.0026690166,-0.040409327,0.01914844,0.0031627505,-0.035457455,0.07162285,-0.0547927,-0.061282378,-0.006533357,0.0035656444,0.079435796,-0.05261857,-0.049479768,-0.010482275,0.071540095,0.022729563,-0.07358989,-0.06176559,-0.02730545,-0.018540641,-0.0026007358,-0.084905066,0.08650202,-0.031785153,0.022689026,0.010711041,0.06159907,0.02257214,0.09650101,-0.0071064685,0.0720528,-0.0010310211,-0.066314645,0.083916076,-0.035344098,-0.008699582,0.00075620244,-0.040092997,0.075540684,0.060055315,0.00667736,-0.039286375,0.028960181,-0.0730974,-0.01752243,0.00070693484,0.06316669,-0.08055084,0.039597988,0.029111583,-0.034426667,-0.043432314,0.015831145,-0.012755865,0.010290717,0.011985589,0.07197661,-0.0024721448,0.07025212,0.017954396,0.081953876,0.018397648,-0.009337938,-0.043576702,-0.027975852,-0.06313463,0.08395105,-0.00812488,0.008247613,0.05552333,-0.03351494,0.04350797,0.040326495,-0.05958536,-0.018767105,0.036293395,-0.041007772,0.042936638,-0.091604985,-0.03873295,-0.006466775,0.04182482,0.038189862,0.101554096,-0.009869233,0.06638868,-0.0018415956,0.036533605,0.03205222,-0.012763002,0.0053196554,-0.040777795,0.104256645,0.0071653607,-0.025597285,-0.023077793,-0.033470493,-0.0057573305,-0.00045672807,0.0123578245,0.0049071787,0.0035558606,-0.018796913,-0.025231287,0.01683545,-0.09496951,0.0658741,-0.0097966725,-0.05656786,0.08675593,0.10873069,-0.08479449,0.055070393,0.03255046,-0.086260825,0.1561422,-0.025751928,0.04632818,-0.067052715,0.046623662,-0.024218408,0.033199236,0.012665618,-0.019085648,0.06552898,0.070612535,0.028308542,-0.057679303,0.036281843,-0.020548029,0.07621005,-0.0038599018,0.034669284,-0.09464804,-0.027909072,-0.02098852,0.0007323294,0.011018946,0.046188597,-0.008034969,0.00013369058,-0.01793837,0.045526683,0.04613028,-0.002684996,0.044898614,0.05656919,0.045563243,-0.05643669,-0.0029200914,0.009296641,0.081515975,0.06408645,-0.019948503,0.030749358,0.040753875,0.0216632,-0.0065298704,-0.02099689,-0.017836897,-0.047336046,-0.0017392925,0.04045964,0.122771755,-0.035899486,-0.032292634,0.028273944,0.053201202,0.06006003,-0.091436975,0.019106656,0.0058334335,0.013819553,0.009551902,0.046503253,-0.06742285,-0.014197953,0.07204477]', '\xcce103e10313f515f00805ebfd201a22000305f9181aecff2504f802fbf3060913fc06f8040cf7f515fcfefa18020902fbfa030c11f1f209fc030f09feff0aff2fe6ecebe1f01523032326fbf10b0b22fbfd0fff02e7ffef12080d03ff0f19080a0af70008fd06060f00fef20a01f1fff2eb0f08fb0fff09fffbfe0003fe09fdd7ebf607fe1e0c18fbfd18dcf4260b1d22f923041700fa0b10040ef70de2ea000b1602f4f80405f80a0100f7fef50bfb010e000905fd020800f7040af1f409f90d07e9eacce30016de121d01ee111a0505ff280e01f7fafb0b020f000a0f22010503effd050616fd08f5faf2f0fcea06f2ef060bf907ff1700fb08fd010207fedc0cf201eded09e8041d0113d60e12f4f81722f7f6e3efe51c0417da11020cfffa0601f601f211100e0ffdfbfa08f0fef803f9fe040b000007ee0600f80002ff44e3def3f8010d09f33312e7d8000c1604ff0efcfffaf4fe040a070700051bff02090b0105040afc0a04ff010405f3fdfcf60808ee080609fff90a0502010904');
INSERT INTO recollect_old.vectors VALUES (2, 1, 4, 0, 't', '58050294e81828aa734d6b20c6ca65ed', 6, '[0.021709256,-0.03345538,-0.095059365,-0.012833153,-0.024398569,-0.066900775,0.011526591,0.064952575,-0.08489221,0.07368703,-0.045767013,-0.07774394,0.046194598,-0.037714444,-0.011790416,-0.017577333,0.07869197,0.08141112,-0.02429847,0.018621748,-0.066003725,-0.013583667,0.04841566,0.044048578,0.03530613,0.04952743,-0.047208503,-0.033383194,0.006593027,0.020513529,-0.026800638,-0.0706096,-0.056626853,0.04336192,-0.058492176,-0.0603927,-0.031140886,0.014856132,0.009502173,0.057841174,-0.06709886,0.02254918,0.085922174,0.020260183,0.007845833,-0.04572729,0.06330791,-0.0067115496,-0.009408156,0.09483099,0.057633597,-0.07276649,0.03359203,0.027209157,-0.09172693,-0.06726284,0.007838213,-0.06774865,-0.04809036,0.040708262,0.02962982,-0.06615321,0.0033549455,-0.06505034,-0.027351081,0.0027644183,-0.030301932,0.014958283,-0.019804658,0.035407126,-0.0339308,0.0806755,-0.039379526,-0.04548938,-0.017365698,0.103122994,-0.037177265,0.013779815,0.037689343,-0.08527028,0.041830238,-0.020798104,0.010075493,-0.016837763,0.041552622,0.08370193,0.072457775,0.02780296,0.0086950855,0.08720739,0.03888796,-0.003735874,-0.045475744,0.028354906,-0.07390839,0.0018171524,0.016393846,-0.05052512,0.073534176,0.078971334,-0.03224891,0.007883189,-0.022090549,0.016425962,-0.036820516,0.05389362,-0.026852967,0.075088814,0.0096548395,-0.04202038,-0.07392081,0.039894585,-0.038054317,-0.024052987,-0.014412214,-0.03963387,0.022879843,0.06153516,-0.08504839,-0.089230835,-0.0508949,-0.039999016,0.013841887,-0.077255756,0.053890433,-0.05934968,0.010612393,-0.06817575,-0.0038598718,-0.049725626,0.025651691,-0.079545826,0.021873206,-0.029943569,-0.04097622,-0.023441872,-0.03834669,-0.039934464,0.038624197,0.0029587296,0.06170043,0.011454819,-0.036212727,0.005150243,-0.04430415,-0.023302367,0.029896107,-0.032768354,-0.045006696,0.031619262,-0.04297052,-0.08241208,0.013311481,-0.020550027,-0.07326794,-0.03167146,-0.060705572,0.039679307,-0.024393054,-0.09178075,-0.11952519,0.024389507,0.18886746,0.03626621,-0.06301872,0.020500882,0.079537414,0.058358893,-0.10963602,-0.051911846,0.090436116,-0.020219455,0.008715257,0.01670782,0.08426057,-0.0030278733,0.09521732,0.03102721,-0.018351588,0.102371596,-0.030452708,0.05014828,-0.034669958,-0.017393809,-0.024211103,-0.027799308,-0.06523319,-0.041834414,-0.071098596,-0.06665626,0.018843496,-0.04956813,-0.0024968784,0.033798162,0.10891304,0.02834729,-0.06385236,-0.07383754,-0.06390303,-0.05070555,-0.069474205,0.0027791734,-0.0037440187,-0.019236196,0.009636786,-0.038213883,-0.020641148,-0.0072198445,-0.04201336,-0.053316258,0.0075334283,0.011774554,-0.0010706822,-0.062013976,-0.022730427,-0.013395297,0.043637577,-0.06206014,0.001887563,-0.016739061,0.12584254,0.01608317,-0.036449328,-0.090492256,-0.04444218,-0.029846076,0.019167973,-0.06868657,0.029572796,-0.087257214,0.03726393,0.066022515,0.08563631,-0.042643778,0.069657676,0.038222637,0.062222876,-0.031756263,-0.027179865,0.03352144,-0.0701048,-0.04570272,-0.016944021,-0.0031352562,0.03669498,0.033116277,0.0249971,-0.059462175,0.04033721,-0.057950202,-0.0404828,-0.010888987,0.04797702,-0.08284557,0.029571824,0.032805685,0.047372762,-0.033031482,0.0664301,-0.01874851,-0.060257293,0.06232212,0.04942751,-0.0052140555,0.04809281,-0.067811996,0.042302303,0.07195128,-0.002643771,-0.062029958,-0.037521087,-0.032735217,0.09651829,-0.09041737,-0.0013118897,0.03309673,-0.053424597,-0.006603574,0.032019187,-0.0660513,-0.04186236,0.025728421,0.028803723,0.045892924,-0.09413377,-0.0064637843,-0.055046044,0.016071279,0.08346096,0.013609046,-0.00421759,-0.06505651,0.009928816,0.00040458576,0.02799767,0.016119897,-0.052203584,-0.0231027,0.036099117,-0.0042015985,-0.01252823,-0.033746034,-0.038187,-0.022063676,0.06355635,-0.006446165,0.038122647,0.014270421,-0.03592773,-0.023040937,-0.042113267,-0.07790818,0.0044491384,-0.04073267,-0.04147431,0.08718597,0.086867094,-0.062353685,0.07253545,0.06078842,-0.043215275,0.06643687,-0.03906013,0.040414046,-0.09115884,0.056567464,0.0012396817,0.017646521,0.077472955,-0.060036343,0.11721013,0.059105434,-0.016248038,-0.040540975,0.004779396,-0.0040779924,0.00072587695,0.020873627,-0.009491159,-0.09690391,-0.007911187,-0.0074542896,-0.040826935,0.029995251,-0.00082609826,-0.012362329,-0.0031522615,-0.029612549,0.051047,0.056401104,0.04806571,0.080106914,-0.0018139901,0.093211874,-0.075913705,-0.0017154894,0.07030574,0.052186362,0.058882557,0.06749827,0.057920966,0.066962235,0.011991579,-0.023917988,0.043809533,-0.032766454,-0.034746617,-0.008312678,0.046047658,0.10548537,0.008500093,0.0009948867,0.040758602,0.008431772,0.10335125,0.011352402,0.016422631,0.034818955,-0.04100629,-0.0938445,0.08748047,0.0074484614,-0.013823753,0.086536355]', '\x030bf9e7d0ece6e3f9170f13280ff9f4041f18ebf2e21514070c0bf9080802fc03ef03f7fc14010a0308fb0d0e0206ebeffc0bf4f7ee0d0d050804fcfdf607fce816fffffe0008e7111afd1cf11000ee00231dfae1e5ecef0d00f6cb08fd0df0f2ea11ef04f0010b0c07fb050b0603eff7fef2eefb05120000fafffbf901fe09ed09e9f5f7d821fa1211f40e291ceb10fce7fff1ee15f2f9f606fdecf10d050001041ef9e8fdfe0aed051afe0404110000f50bedf5fcf803f5fce9fefbeffd14d7f2f3e4f2efdcf91702ee0c0ffb05fc1803f414ef08cbf7fdfefc0c02fc01e0f4e9f7e7f0fa13f9070007fc0bf4f6f501fb01e4ff0502001609fcf701f10e0444ffef020f03d9e2f8f6e510082bfbeb0e0e03f2f0f4fd20f8090100090801f300ed09effc0b0a04f605ff0702f504f5f4050efaf9f10003fe00f7f603f203fbddf3f5e2efeed5fb1506ec0606f908fa16fef618ef0bccf804fbff10010204ddf6eef8ebf1fc14f90300fff507f6f2f803fc03e4ff04fdff1b0701f802f10dff14f0f9eef60cc4feff11dffe2414f90cfcfbf9f8f7f7e604f5fefbf9fe1d0feaf5dc1607f90512faef06030110ff08f2010c0beff1f7ffff0203f0f9fee403fc3127e4f0fb01cffb1103f3030f20fff7040501f008ddfc1f02fb07070c1705f609e8f8f4fc0b0606fb06f4fc0af702eaf5040df6faeffa040108eef705f301f5d73bdf02070bf41105ec0cf5e410fff8070000d713f0e402f0fc0c1c120c0c01fbfa070aecff11080503fa0507fcfcfefbf9fd0501f50711f904f20505f709121023f1dfdbf4d9dd0d000f060a1cf300060e14ef00d80d0c0902080f181f030410eaf9fa021a0b0200030009010108ee02fe09f800f30b070305fd040bf905f6da0ff2f600dcedc70718f910ee04f51ae3ef05ed09f11eef0e12f3180e06fbf910f80802fe0e0406fef700f5010504f8f3ef12f3fcf906f8060002021007f6fb3e1ffaf3f109d9f004fbf1140c23f1ed021509ebf4e5051cfdfe03081015f7ff01e4fcf5001304040206030802fdffefff0a050102ea000a0307fcff00f0fdfeff3ef5f7dee9f3eaf51bf911120ff4f00b1610f4efd2fb1208070ded0601080500e9f5fbf317170011fef5111000000401fc0903f801ff05f804010104fe03ffd00fee0f02dff8020015f501e423ef0feb1917e61cefeefb0904e8160f010afd12e40c0bfd0e0e0e0b0207020f100eee02f407ff06fefc00ff0401fffb0c04fe3de2db0c180bd7def0f4e7060222fff20a0802eae9f6f518effe0004010202f4fcf309f4010a0ffcf50afe060e0106fff80703f9fcfdfffdfc06feff00f705fe');
INSERT INTO recollect_old.vectors VALUES (2, 1, 5, 0, 'u:ann', 'fd9187a3a31ff27c36e0bfac44b2b7ff', 7, '[-0.028776295,-0.016438257,-0.06074902,-0.040756088,-0.015191428,-0.08956978,-0.011985186,0.019981215,-0.08046097,0.052539535,-0.010393214,-0.03744534,0.048037667,-0.05152201,0.05499421,-0.043621562,0.08230199,0.027990205,-0.012429236,0.009712518,-0.08847353,-0.018333394,0.050073694,0.070013106,0.051672656,0.059093114,-0.02437623,0.06975171,0.0057007363,-0.00967006,-0.043369133,-0.07862434,-0.028856562,0.06836665,-0.014977642,0.0044398354,-0.04084858,0.03308614,0.05698461,0.020411,-0.099035576,-0.015255554,0.06282308,0.015063474,-0.018489836,-0.0048969584,0.00915038,-0.024710597,0.0038651745,0.12562843,0.013787858,-0.051850196,0.009497276,0.034274753,-0.15261221,-0.030375531,-0.006170859,-0.064631715,-0.052499488,0.022965182,-0.026829815,-0.038814344,0.012914992,0.017404215,-0.031271987,0.017553266,-0.0422383,0.034344975,-0.012501831,0.06566419,-0.027771011,0.07079484,-0.07392214,-0.06786937,-0.031370576,0.034472898,0.004203444,0.028060917,0.02148171,-0.07812843,0.047922406,-0.015482869,-0.01126973,-0.07382808,0.03689231,0.032426685,0.013379552,0.089576825,-0.04519312,0.094468355,0.03302476,-0.030400693,-0.027460868,0.02411256,-0.031936813,0.037324376,-0.032296155,-0.06231087,0.0685291,0.03967666,-0.046624083,0.015376102,-0.036353633,0.028256249,0.0038305183,-0.0100267595,-0.051124174,0.022346128,0.03955257,-0.033136737,-0.059495613,0.041820332,-0.024215315,-0.040323965,0.018645145,-0.015820881,-0.016090868,-0.027618004,-0.09096218,-0.045566875,-0.033013277,-0.017175766,0.025658056,0.025925132,0.013953191,-0.07514466,0.024797222,-0.08125252,-0.04068234,-0.1040498,0.04894131,-0.06936255,0.041914444,0.060224693,-0.055465974,-0.022264497,-0.00324901,-0.003620545,0.04698493,0.09235815,0.060526997,0.0044257324,0.0018406315,0.00785801,-0.0142860925,-0.07014991,-0.007910747,-0.021829234,-0.023292933,0.05873031,-0.020959355,-0.04089127,-0.049976323,-0.07608286,-0.07647535,-0.06268147,0.012318709,0.058563516,-0.044730205,-0.070249476,-0.098501176,-0.0012691768,0.2144635,0.10343796,-0.04401778,-0.011427821,0.08075996,0.04145451,-0.08837842,-0.038004026,0.086447515,-0.04893284,0.04893654,-0.012083392,0.03488694,-0.069083184,0.03217008,0.052583493,0.016099507,0.053269595,0.0071008033,-0.018837452,0.013793388,-0.043863967,-0.030295394,-0.069224946,-0.052308798,-0.052696314,-0.0011897048,-0.04392758,0.016003696,-0.048419558,0.019430133,0.041127443,0.08136064,0.062120188,-0.03943581,-0.040264178,-0.05169064,-0.06540069,-0.049881767,0.04935036,0.019931944,-0.11627413,-0.03633323,-0.033958677,-0.014485379,-0.043362834,-0.01933996,-0.032179493,0.0027952215,0.028635852,-0.0031470822,-0.07040774,-0.08279023,-0.034817,0.042239152,-0.002082884,-0.07185173,-0.01170137,0.087739155,-0.003994633,-0.03307086,-0.04795809,-0.033852965,-0.009067202,0.014097957,-0.010526966,0.05839004,-0.08881319,0.09227075,0.04508965,-0.009622976,-0.0032082247,0.053604692,8.103666e-05,0.061353326,0.0029037003,-0.034587547,0.081024066,-0.092678,-0.095624484,-0.06035042,-0.0075753173,-0.0031828126,0.046913635,-0.027230635,-0.06077393,0.046268325,-0.021439534,-0.04336373,0.057266667,0.043100737,-0.11044486,0.011865835,0.008508979,0.040573154,-0.063430056,0.02825998,-0.013522584,-0.02921427,0.024112234,0.11242252,-0.021340119,0.00712728,0.04054565,0.010713442,0.04725888,0.052594624,-0.08292595,-0.031715855,-0.07249856,0.04800005,-0.050892487,-0.011027181,0.0009799087,-0.06927822,0.056798153,0.031864196,-0.027699148,-0.033771515,0.022670818,-0.013592847,0.02620032,-0.077070564,-0.015293333,-0.052749414,0.016983828,0.08378018,0.103185624,0.0008198907,0.019811386,0.051167812,0.04089662,-0.012039399,0.008045656,-0.065359876,-0.026552869,0.015416434,0.02000165,-0.03471838,-0.114917174,0.019779835,-0.04234388,0.027256617,0.088048615,0.025722474,0.00562135,-0.018334981,0.002958854,-0.01925456,-0.047192447,0.030772684,0.010295712,-0.056842364,0.05485881,0.022201665,-0.012532929,0.056238625,0.016705645,-0.031953506,0.12857103,-0.09752553,0.046619464,-0.037263144,0.033004317,-0.022751328,0.031350464,0.046389654,-0.049244817,0.08940237,0.020322803,-0.023541713,-0.075435646,0.01992332,-0.031811804,0.040042397,0.015887806,0.04594448,-0.078714326,-0.039184958,-0.04984858,-0.05294308,-0.049693283,-0.016244732,0.014447058,0.033260226,-0.013350282,0.04056411,-0.0061285123,0.039799117,0.06006696,-0.0215049,0.12713297,-0.051823497,-0.023837721,0.059748247,0.026609277,0.1051426,0.070866406,0.057893388,0.050240487,-0.0010871451,0.013702062,0.02069688,-0.02957034,-0.036208104,0.019906094,0.0711291,0.15086716,-0.058170598,-0.011128897,0.079660706,0.01056429,0.050812,-0.05031012,0.020634403,0.015625114,-0.0022648165,0.004995001,0.043642826,-0.029617233,-0.00149871,0.13592805]', '\xcdeefd1e1a070de8ee04ee190bf7f10510f717f1170c14fb080df80f0d0904f3fbfb09e504040e050706e81cf8f5f10c12f201fc13ee08ec080309ed12f6fb0d07e70b1024060500f1d6242c1df0e31101f7110910040408f917f10ef9030f0e0f01000608fc0dfafffcf211fa02ee0405fefcfb1c00ffe10100fff10705f11001ed0b201b04fb08eae5242423f1f5f20ff724f706fff4090909eb0df70113010ffff0080efe070d0603f216fbfee3fa02faee0011f7f4e1fe0405f302faf10d34e5220b2501f40007e105280517f7f9f4f50af512f1fc04f8fdf411f6f909ff05fbe30a0b0412fdf9f7f415ed03ea040702f5050500ecee03f8ffedfdf2fb0c14e2180c2bf8fe1505e224200905f0f209f72bea0702f606fcfff707f5fd05070b04e61207fc0c0c0000f90fe8fce90207f8fa030cfaf1ebfaf60bf4f8fcf815f9e20d1630f70017fae9291d0bfaeff00eff2bef0704f6080309f8fff8fe06071304f01005fc060e0302f80fecfde9fe09f1f80413f5f3e4fbfe0ef4fc02f8141edc1d202c06e8f5fced0019021df5f6f5f007f012f2f9fcf9fdf80bfaf10df604fbe507080513f9f5f9f61bee03e7020601f3040601e8e900fdfdf0f9f0050bece41a031c1f0be9000ef72527e4edfc0801f20ae7f213f2110ae00f06f515fbf8f8f1ee08000ef6f5fb0a15fdf4f0f8f5f8f0ff0c03eff20b08f8fa06f9f9052af0200829f312fa1ceb0a0e1b0406eef3041ff113ff040807fffa11ed0c130afdffd61014fe0806fdf0f907e9f6effe0105fe0904fef6f8f8fafdecf703f30c23fb25ff0af2110d1afde80cec1a0ff2f5f5f5f319010513ff000318080cfcfaf6f5cc120ffa0c0802fef206eb05f8f90f19e20ef5fbf30108fbfef5f1fef9f6cdf5fd2719181eeafef22dfe04010801f2020806ff0702140412fb08fa000a040c11e40407f6f3090a05ef18e109fcf80409fc040bfef6f40a140f01faf61011d9f1031821011bfb0ff8330f0003e90ff8fee7f608f407fc08fee92c03fcfe120608ed0fffe5f60bf7fcf20df30bf8fbfd00f60a0ef405eff9fb0504f009110bddf20df725fa14f81e0509f1f1fc08ed08fbf7effcf42c12fefdfe1823effc03f1ffca0e0ef7f60cff08020be4fefcff01faf405ff0503f7f8fd01eefb030dfc200124fa010219041301e510e81508f0eff4fbf914fd050e02fd0315010ffafdf8ebce0e10000b08fcfbef03ed01eaf10c13d917f9f6ee0006fb00f0f401fdfadc1dfa1011f22e09fc11e4e5f918eddd25f50ef5fdfaeafbfdf6f8f9fbe600050112eef102e70a1400f7050b04fa07fc0002f70bf60002f201e907fe080204f424fd21fb27fa18ea2714111eec05fff5f6f8f2e917ff150209e7040ef5f20304efffdcff06f209fcfef8fe06eaf3f7fc0ff8fb07f6050202f30900ecf003fa00cfe20d1a13e904e6ec1bdd07ec0e02f9f3f41af806fd1102f1e5f7f2eff3e90ffc02fa020707030e060b07ffedfcfa03060e1912000d06fbf4fe01e9f511fe0140fb2afb1b0202f421fcf31ce71508eef7fff9f315f4fc02f8ecff13f2ff07f9fef8de0c08fc0d00f9f3f60aeafb00fe0504f50bfc00f3f20000faf4f3f5fdf9daf407e721eefcecfc1fd508f6f510eafe0705f0072511f713f51411fcf010e703f1f3f9f10812f3f3fef806e9feee0516fe0301f603ed07fc01f6fb02fcfcf639f32a0c1df6fde71dff0224e61a04efeff8fdea12fbfffbfbedf612f2f80700fdffe10107fb0e0302edf008f1f603010800fb090205f7f8fb04fcf3f1fefffc17032af2120514e917fa152ae5f7e0fc010df0f41a03140cf7edf70301e912fefbf4d9070f0408f2f4f2f20aeafc08fa07fef709f902f5faf20708fcf5fefb02cce0111810f0feecf018e608ed10fdfbf3f61df904f61705eedff4f1edecf50dfdfcfb020808040f07000601edfbfef8020b1c12fc0a00f8f90401e7f213f80143f4240515f701eb1ff2f920e41a08eff6f902f70ff7f201f6f3fa17f20308fb02fddc0108010b06fcf2f009f6f906fe0200fb06fc02eff4fa03fbf3f4f800fb18ee190424062fee1bef15001406f1f9f9ff21f51a0cf20f01ee140ff5021500f6fde4f512071006f0faf00ae3f3f1fe0204fa0900f7effcf80803f4f8f90005f01eefeef3ecf5fd22fefc03d8190ef504f30ffa10eef601e5e1ec20eb110afe15ffe40a08fb05f602f8e710ea00f50cf30ff805f803ef00f00009f4fdfc041006050de9fafc2bf718fa060e021308f408f2eb11fde10b08e7e7f515f30415e80a07d1fa150912fee7f1fd0d050713120910eff9ec02fd01faecfbfffb03090a16e9170121eb05120809e8070111f6fffaf805f024fe0b0ff8e9010d000110eef2e6c91307fb120bf1fef618f400f4f5090ded14f6fce9fe06f8fdfdf8f8f7f712010e0207ed191c2900000dfc27fa0807f701ef0ae80d02ebe2f01be20a0af203fccf0612000b0aebf7effffdff05fff906fdfce505f0fdf5f6f3f8f8fff8ff3ee80b0b1b02fbd60ee6ec13e11a0eebfefb03f709f7f50aedeaf313f1f307fb06fcef0613060af400f8e805fd03fe010107f5fdf809f1fbf9fa02fcfef4fff8');
INSERT INTO recollect_old.vectors VALUES (2, 1, 6, 0, 't', 'cb91c8b5a82b73ffb3631b16f7e716b1', 8, '[0.070465274,-0.051289704,-0.06807853,0.012843976,0.032714766,-0.06744198,-0.040896244,0.04990725,-0.06471952,0.06738018,-0.068271756,-0.006552795,0.028831668,-0.03866509,0.0070513184,-0.055484504,0.047340237,-0.009719302,-0.04242045,-0.0068775597,-0.057738055,-0.0053386874,0.018732207,0.046246715,0.02196291,0.046416096,-0.04146716,0.030915497,0.013714198,-0.0062676067,-0.028543288,-0.045510568,-0.07469725,0.02728699,-0.0970027,-0.060865983,-0.050546426,0.03511253,0.023273122,0.09446104,-0.039969675,0.015444808,0.03108313,0.027916057,-0.035456832,-0.039784346,0.02428333,-0.04568753,0.0045072366,0.040307812,0.061671544,-0.012097141,0.026157677,0.045170054,-0.0749844,-0.062641025,-0.0071203853,-0.08371955,-0.057141267,0.034473106,0.011949066,-0.008017435,0.010549948,0.014812812,-0.034147035,0.025039142,-0.073796794,0.0021248201,-0.063176736,-0.020771198,-0.031218842,0.04416373,-0.052957553,-0.039325047,-0.032936197,0.060273536,-0.030921873,0.06624489,0.081967406,-0.0741644,0.025507571,-0.05387655,-0.015229997,-0.0768292,0.08374586,0.070736095,0.03086988,0.08660609,-0.011465213,0.09913901,0.047773115,0.021843426,0.006431616,0.11619942,-0.07536956,0.021472817,0.011893971,0.0039250394,0.055797633,0.023503589,-0.040905856,-0.0025610176,-0.07369342,-0.029403422,-0.042328406,0.020015843,-0.05033859,0.06978142,0.0065910337,-0.01100004,-0.1105772,0.027005002,0.0064597726,-0.0609719,0.004419821,0.046773203,0.06904934,0.03542932,-0.1083338,-0.0794401,-0.037651967,-0.024800872,-0.027657807,-0.03792364,0.021430347,-0.0051402473,0.029074024,-0.07868899,-0.02027884,-0.07405662,0.047195103,-0.09018643,0.028580084,-0.05065177,-0.033762224,-0.05099145,-0.009827393,-0.018099787,0.022202125,0.0035134375,0.018108884,-0.0028613112,-0.0043857396,-0.042100172,-0.04491516,-0.04432321,0.041668512,0.024631483,-0.059809327,0.000303836,-0.037142828,-0.04733817,-0.03196951,-0.110318996,-0.1038619,-0.028876694,0.009762291,0.11093283,-0.029923841,-0.061187565,-0.07222438,0.056814354,0.21312921,-0.02414946,-0.071599014,-0.01697313,0.08028108,0.06515922,-0.0884515,-0.042429194,0.05559631,0.005118537,0.056221247,0.019996874,0.052381128,0.014579919,0.06784494,-0.0042880834,-0.012683862,0.11440015,0.027064323,0.012965959,-0.08038907,-0.053704232,0.009653656,-0.059690554,-0.005335941,-0.07210041,-0.08260816,-0.1154457,0.04133121,-0.057307392,-0.005307722,0.010386154,0.045371275,-0.017401937,-0.055621173,-0.08521726,-0.044539984,-0.061420582,-0.031039499,0.04866502,0.043956935,-0.032854673,-0.026892204,-0.036889084,-0.01480606,-0.04559142,0.02852611,-0.0063961884,-0.022903735,0.042615592,-0.033973064,-0.11623818,-0.038530815,0.03614694,0.082157634,-0.00422748,-0.011165437,-0.017481754,0.105334066,0.036540013,-0.07218326,-0.049986143,0.0013341126,-0.00792528,0.04082701,-0.028966272,-0.0013342533,-0.05555172,0.021408683,0.026934551,0.051638316,-0.014403588,0.056552213,0.049871843,0.03984031,0.01665333,-0.048563838,0.044103924,-0.08318606,-0.02497028,-0.018762058,0.039616115,-0.0062453495,0.03710257,0.005316627,-0.060853336,-0.0088783875,-0.03503025,-0.0013941028,0.028526992,0.0806296,-0.062050845,0.020862088,0.08702797,0.04854194,-0.04168811,0.053483658,-0.040249426,-0.014213217,0.015859347,0.07023626,-0.01924742,0.080134176,-0.0496406,0.017527739,0.06197533,0.007878292,-0.11030407,-0.042450182,-0.008864794,0.030598132,-0.041182004,-0.02508001,0.009154738,-0.060455095,0.058368266,0.023786178,-0.011686052,-0.0724774,0.049314745,0.00092249556,0.056855284,-0.04536137,-0.019415367,-0.06675361,-0.037164178,0.060712807,0.084865995,-0.024329385,0.067350425,-0.00059302157,0.055501092,0.041413274,-0.011275757,-0.07850403,0.0011955805,0.041238163,-0.02392187,-0.044550683,-0.10287312,-0.014350947,-0.004491525,0.053920995,0.11400835,0.002959404,0.01782321,-0.019772112,-0.044304512,0.015721891,-0.02550426,0.021861792,-0.0536073,-0.06609203,0.053273972,0.08465573,-0.04387196,0.08286017,0.006979061,-0.02447055,0.13967861,-0.050459582,0.046614025,-0.049337845,0.05356882,-0.009827448,0.05205774,0.010340243,-0.035210364,0.040799666,0.060548093,0.034764428,-0.048274014,0.0013053142,-0.05377625,0.04882243,0.017174533,0.026271848,-0.06844298,-0.01688985,0.010749221,-0.042557236,-0.010455054,0.014111454,-0.0067511094,0.013240041,-0.036882624,0.009951537,-0.03613534,0.024172751,0.08982328,0.0047151814,0.06159278,-0.04991648,-0.01443317,0.045862325,0.05294232,0.07545211,0.038221765,0.04864174,0.013107877,0.047154233,0.0102149965,-0.027059628,-0.020590965,-0.017536791,-0.023381872,0.053150937,0.17807643,-0.02301471,0.002921328,0.06930056,0.02893721,0.08876112,-0.029098053,0.0041164113,-0.0068213386,-0.005498782,-0.09743457,0.045644,-0.06456812,0.022631666,0.037644867]', '\xee4dde0803f8e50ff1e40601faed0212030016ee1c1109fe09fd0910f700f502f5f004f0fc0dff00f70bf30aff05f414f30302f4f3070309fa0703f9e805f6fdf214fff3c5010bd1f5fa12050a0206f5fb0813fc02ededf70e0b2ae807edf510fbfe01dd07061506f00a050bf801ec03f9f5f6f7ff0110f60afd09fdf4f8f5073b180616f205f3eef0ff28d7fde70e00f1fc08000404f7f705fc160601f2ef05e8f40ae706071609f31014fefa04ed09f8f1f6f7f5040a000d09fdfcedfafbfc');
INSERT INTO recollect_old.vectors VALUES (3, 1, 1, 0, 'g', '48cb9aa9f0720c4681c469e8e5779c2d', 1, '[0.0068707205,-0.026139295,-0.08419005,0.021124005,0.040748205,-0.01859424,-0.014682313,0.036137298,-0.05714496,0.04627885,-0.023935437,-0.05209247,0.09010908,-0.044060826,0.020183457,-0.03768474,0.00792404,0.1240624,0.03931476,0.049093526,-0.04080064,-0.05032939,0.041634273,0.006183565,0.08213513,-0.018296525,-0.008215946,0.04725361,0.019476425,-0.018243836,-0.045033913,-0.050735142,-0.046201225,0.063987635,-0.08651566,-0.0111284815,-0.05344237,0.047946073,-0.013033475,0.053750634,-0.064575545,0.01737159,0.048535082,0.033608943,-0.020070458,-0.000586447,0.076993786,-0.02306545,0.009613235,0.10112285,0.010419626,-0.022446282,0.04385011,0.031561032,-0.08040364,-0.07895099,-0.056757588,-0.04923846,-0.07847275,0.026847778,-0.020139614,-0.0738822,0.058942385,-0.03602558,-0.015011899,0.034522723,-0.047404744,0.059525635,-0.014824214,0.017123012,-0.04417407,0.05179666,-0.06487204,-0.1265888,-0.014615787,0.10073877,-0.022649495,0.035749413,0.003708593,-0.017262006,0.0381642,-0.08247932,-0.023448113,0.0019016099,0.028704071,0.044316463,-0.0067045004,0.035031147,-0.056175254,0.07900954,0.016920699,-0.053448327,-0.024995798,0.09449481,-0.039635994,0.031327147,0.01884147,-0.04298046,0.031664997,0.03425355,-0.020715896,0.02678364,-0.07782437,-0.024296617,-0.03692436,0.0064615104,-0.07851601,0.045905244,-0.021315187,-0.051019937,-0.08075398,0.03983778,-0.04672551,0.014774139,-0.056388963,0.027375657,0.09462092,0.014351473,-0.10703522,-0.06348577,-0.0064328373,-0.109513335,0.033069212,0.039020073,0.045307584,-0.019004185,0.031107001,-0.05624919,0.01775567,-0.10867435,0.04628823,-0.10162481,0.019662084,0.056996323,-0.043316074,-0.047967173,-0.06953174,-0.037706878,0.058960345,0.056798626,0.06273741,0.028294252,-0.0017870878,-0.03167417,-0.016360752,-0.034452483,0.058461163,-0.008811464,-0.029777732,0.037456285,-0.0023993298,-0.07763149,-0.05306268,-0.051293027,-0.052002825,-0.05539305,-0.049465973,0.03622545,-0.016172977,-0.06970361,-0.071935736,0.022940805,0.16287425,0.045522776,-0.027341735,-0.019884354,0.06394027,0.042896513,-0.045646794,-0.06495197,0.12024366,0.018902138,0.043549944,0.017249268,0.06371823,-0.02508257,0.033674028,0.0006212713,0.01750235,0.043709017,-0.017292766,0.04454927,-0.018129768,0.021955008,-0.010628018,-0.0690147,-0.06150944,-0.045468934,-0.07311883,-0.1553173,0.06422699,-0.031461526,0.014724946,0.023318272,-0.00061560486,0.05652176,-0.040825546,-0.15308905,-0.09730159,-0.047792338,-0.018132249,0.035733387,0.04367458,-0.03045776,-0.034920577,-0.0683467,0.022770846,-0.005915499,-0.029740611,-0.039596386,-0.003646963,0.0785927,-0.048412077,-0.10658059,-0.06577796,-0.02315752,0.1332205,-0.017006172,-0.067936294,0.0071654543,0.049843717,0.03951329,-0.027692962,-0.022535155,-0.04254254,0.01800055,0.023829054,-0.013145179,0.08896264,-0.09253436,0.025441615,0.007940983,0.03914728,0.016876908,0.06491429,-0.06453933,0.06013943,-0.044599768,-0.03769759,0.039025728,-0.024096156,0.012925265,0.012650443,-0.041523498,0.036647256,0.07991556,0.014413345,-0.07423719,0.021643665,-0.044318486,-0.067514375,0.028835436,0.012042437,-0.08411457,-0.024422677,0.05622719,0.057963386,-0.046641193,0.0013119599,-0.006843375,0.015224744,0.04819579,0.046222482,-0.0070999563,0.01413119,0.037095398,0.03424192,0.056888636,0.07663917,-0.11502919,-0.003969486,-0.025648756,0.014052731,-0.027906839,-0.014883223,0.075736456,-0.043684408,-0.006157333,0.024702879,-0.0040280884,-0.04388485,0.008867563,0.012324633,0.043659687,-0.019131146,-0.0092526665,-0.02183734,-0.031933017,0.049175955,0.12578572,-0.032922592,0.05118918,0.026533138,0.040574443,0.047012888,-0.0022593606,-0.047940113,-0.040298812,-0.0032587196,0.022778165,-0.015701767,-0.059290662,0.006732974,-0.07860172,0.008678332,0.08159327,0.026717741,-0.0054543205,-0.014801485,0.02885672,0.00095945527,-0.053644218,0.04227572,-0.059587825,-0.08667361,0.034304045,0.08208096,-0.035243526,0.036933146,0.03806539,-0.04706679,0.10559563,-0.015201324,0.038142957,-0.027625587,0.056284897,0.0015753568,0.018022237,0.03750325,-0.04071566,0.102837965,0.003439798,-0.009538284,-0.022134341,-0.012992747,-0.057078257,0.11225921,-0.004171283,0.035198558,-0.09107913,-0.054066237,-0.021448802,-0.048163883,-0.03629226,0.032918565,0.03195605,0.010243473,-0.0064635784,0.0025317888,0.03487044,0.022669794,0.05086092,0.027062483,0.07898782,-0.0661545,-0.073406786,0.04065698,-0.006384969,0.09182758,0.011445301,0.053868666,0.060604002,0.020139122,0.004887982,-0.00082843704,-0.030065004,-0.030889656,0.022344097,0.050510406,0.0885692,-0.0588911,0.056070656,-0.029160807,0.014391333,0.018107444,-0.081225626,0.0057150954,0.021562802,0.011449777,-0.06502191,-0.010933267,-0.08082784,0.024098443,0.10975514]', '\xe7fbf10905f232fa0a0efffc08180d0912db051526fbf108f607f8010303efe2f60eeb06f00911fdf81b0cfff20704ff04170a01f4eaeb0af3f3f0f9f1fbf91400e90adef7fc27e01305f5fefb021df6190f06fff0d4faf5fd06f6f304fef5e3e10bfc0909fc000f0319f0110d0b18fd060807fbecfef2130311f602f8fcf110f7fe04d00cf92a170dfc0601fdfe0adb0dff10e8fb07fd05fa1efae3100bfef6ec23fa07ff000f12071af8050bf61102f0f910fdfcf4ed10f21006f9ed09fc1014e813ea05fe260f06061002f6f405e405e90c1117fdf0001af50c091af0eced03fee613f2181610080d1af616f312ff0cff04ecf9f6fd11f810fff7ec07fd133bdcfff7080324fb07210ae4e7ef06080eeb0a0111faea02fb0aeb1201f6fceffaff050df70a16fa051f09010bf60f0104ff06f9f4f8f309fb07ecfafefbee0d');
INSERT INTO recollect_old.vectors VALUES (2, 1, 7, 0, 't', '47fac47b90261d233666c64393e35295', 9, '[0.043859307,-0.024691455,-0.09597009,-0.011371776,0.01691325,-0.08612772,-0.00810705,0.03882652,-0.05076193,0.08836736,-0.03257777,-0.07875368,0.069186375,-0.03735711,0.003793752,-0.06197757,0.074181,-0.0039005084,0.024061037,0.043022193,-0.082203194,0.0020224552,0.00035238327,0.02472613,0.050890617,0.057337858,0.01681856,0.07839837,0.007058336,-0.020782784,0.0030660445,-0.027290959,-0.05658617,-0.016050695,-0.020560365,0.0011697791,-0.061834443,-0.013327557,-0.0324307,0.09345873,-0.042432014,-0.0056352643,0.0398072,0.013777605,-0.07099584,-0.055435874,0.048167888,-0.0074225953,-0.046458043,0.07245242,0.02990818,-0.01848463,0.014470606,0.0478055,-0.05052547,-0.109711535,-0.021248242,-0.12447225,-0.014325637,0.024047323,0.049968228,-0.016369669,0.035715003,0.029212607,-0.036797833,0.024713717,-0.058904074,0.013669348,-0.045153566,0.07693088,-0.047618892,0.03997926,-0.020897107,-0.08610997,-0.048522208,0.06852952,-0.004666343,0.043073617,0.06363767,-0.05898321,0.018931838,-0.009106284,-0.023712471,-0.035360843,0.066334516,0.081857696,0.034609083,0.02812687,-0.038922716,0.0987685,0.023759883,-0.035717115,0.016588544,0.13428798,-0.035895966,0.005007717,0.011522912,-0.0658785,0.032334503,0.036110137,-0.037859783,0.037961703,-0.04261111,0.06266564,-0.053676944,0.02261096,0.03690679,0.050455764,0.03525931,-0.07327929,-0.024843454,0.022556692,-0.09679126,-0.021713635,0.032686725,0.0034694634,0.07922114,0.025187865,-0.07150549,-0.024241729,-0.05836247,0.015041089,0.030894384,-0.0072021596,0.02575354,-0.10760157,-0.026941087,-0.04030285,-0.041194625,-0.06579843,0.023100745,-0.07581938,0.020495007,0.06278637,-0.06624744,-0.034787133,-0.0621063,-0.02309991,0.023567986,0.036701407,0.050829325,0.053783078,-0.007176681,-0.07113552,-0.03672957,-0.049133625,0.028829262,-0.01724943,-0.08070619,0.07209737,-0.03494035,-0.037796415,-0.042389203,-0.052595366,-0.053122014,-0.02849213,-0.042773128,0.025939215,-0.013298392,-0.09000816,-0.047006577,0.013625083,0.17137563,0.0020145252,-0.031902324,0.0035296143,0.039027844,0.07101054,-0.047398195,-0.040813323,0.14041038,-0.022883695,0.057257157,0.014074222,0.04061361,-0.009437622,0.035539098,0.04721594,-0.043177813,-0.018631848,-0.020960722,0.03911659,-0.02445248,-0.034642875,0.0014025955,-0.09626154,-0.06748567,-0.026171353,-0.048065092,-0.16594361,0.03638861,-0.03958709,0.011955877,0.022113524,0.037994653,-0.00018220309,-0.04829432,-0.080431364,-0.06669624,0.017742097,0.020432288,0.08246879,0.004088713,0.01805283,-0.08178708,-0.029552095,0.0027399661,-0.048702214,-0.013392664,0.01632283,-0.031162577,0.05740223,-0.034413464,-0.045555536,0.028548343,0.009997167,0.06453104,-0.031648446,-0.04899018,0.019318009,0.059180334,0.059034374,-0.035563383,-0.08227217,0.0056001972,0.007915,0.025400745,-0.08167335,0.06452947,-0.0673029,0.030965745,0.017029217,0.03053154,0.041652307,0.03262427,-0.013265135,0.0258942,-0.07236061,-0.05544934,0.07620431,-0.12121217,-0.010227114,0.009868221,-0.03611205,0.037738074,0.07669717,0.03806811,-0.0513241,-0.004663485,-0.062707484,-0.033334192,-0.05810416,0.06564623,-0.117479295,-0.01492628,0.036592603,0.05832001,-0.07403748,-0.020000527,0.043488428,0.022899318,0.06092915,0.07500528,-0.09106924,0.045074206,0.03186043,0.08923758,-0.042792767,-0.00080884155,-0.03233424,-0.05927632,-0.020673666,0.04738188,-0.053463858,0.059115805,0.07715826,-0.026114514,0.0011121382,0.051680002,-0.088995606,-0.046923064,0.040259324,0.013730955,0.03299413,-0.057557687,-0.061868984,-0.035370223,-0.0063280826,0.032955132,0.05374939,-0.042337675,0.0907236,0.027921654,0.059134595,0.045547068,0.045632903,-0.034185905,-0.064940795,0.030325763,-0.0040704785,-0.0064715007,-0.054025177,-0.04904606,-0.059516117,0.011185704,0.0363228,-0.025863716,0.028135663,-0.022677382,0.012547626,0.0022408415,-0.042692725,0.061620675,-0.028740464,-0.03491341,0.015907908,0.103685044,-0.074325085,0.04030514,0.0040418636,-0.05128485,0.09598103,-0.0760652,0.052267496,-0.022597386,0.070946984,-0.064632826,0.044567533,0.06044831,-0.047196083,0.082926,0.04940719,-0.009226255,-0.07305367,0.026605368,-0.029230298,0.07150947,-0.021950899,0.08043728,-0.10880426,-0.059848223,-0.01353084,-0.03651241,-0.046440423,0.0054363627,-0.0048108255,-0.007901837,-0.005380156,0.02722003,-0.009931306,0.013359706,0.035095822,0.024951162,0.09043375,-0.104832165,-0.048855197,0.02815302,0.03161445,0.057055928,0.06386004,0.10226241,0.06013388,0.024170995,0.0039840396,-0.009944797,0.03757627,-0.006570051,0.0234029,0.030871235,0.09579383,0.002117223,-0.01706533,0.036017433,-0.004005129,0.06959842,-0.05757011,0.020374488,0.019318458,-0.0076811197,-0.066484004,0.009792675,-0.0673567,0.009256673,0.03441683]', '\x2ce2e4e00ef20418022a0be2f6e8e82003e8fafb0afc08fa0ff115de01040e050b1508fdf8f1ee03ffffff0904f402fffffd05f5060102f200fffe0af6fef500d4f7f6d81be2f9ef1313e4f00306fb24fb0402091009f8f2011414edf5e510150efd03fcfb01e002fb10fa01f10c060400f00401f4fcfdf10006f913f204ec06d7e706da20fdf708f725f8ebf6100c0ef7fdf7f416fd24120cdbf0e9f5faf20a11ff0dfeec05f4f4fbe30107f4fff807fdf307fafffe13fffef9f7fafafaf8082bf3f8dd02fd1a2a142500ebeeecf018fedf01ff10f80ef8faf00ef0fc0e0e0c080b15f5fbeefaf807fd01fa09f8fffb07f40af2050600e9050beb0cf1f3fc01ee13f0f601e924fe0513ff03090cf20ae9caf1e5f80cfa0502081cf0f3020308092113fcebfbf1fcfe0416f4fe050a0e12ee13edf207f8f30302ef0bf5ed0312d0f5f3ef09f8ee07f42bf2f3faf708f407f0fbf624002b0bfed7f2fafff90ef813fe18f7e6f60efd04e5000307fcec0409fd01f2fe050cf90708f4fcff02f90121efe3ef08e61318031af0dd05edd61cf1ecedfe00fc0ef2faf80ceef805100d18140deb04f6f8f4fe0b090204f60f0603ed01fe000402f20106ef11f3eafcfbdaf7f5da1de4f1f31017e5e705fff922f90603110e08f9f3010f18f1fde81a1b10ff0203ff04e501000ff801ed0e0bff04f807fcf6fbf8ee0104f811ef03ec0641f2dbec0e101709ff2308ddddedf80909e2f3f2ff02ff01fbf808f7f8010f05091211f4fffafef1fe0404020800040405fa05f5ff0303f10103ef0ff4f2f401');
INSERT INTO recollect_old.vectors VALUES (4, 1, 1, 0, 't', 'b972d998d928340a8b7f4965dcb11ef4', 1, '[0.040331192,-0.00052618474,-0.07322735,0.00747527,0.04917776,-0.04273128,-0.0665387,0.086908646,-0.071493424,0.03864378,-0.046789885,-0.040950675,0.07315802,-0.05157809,0.008527903,-0.09202374,0.07745111,0.07218897,0.034795776,-0.008710504,-0.04381101,-0.024786623,0.055983536,0.037435867,0.1026908,0.028038783,-0.0100088725,0.07326146,0.018730689,-0.017650895,-0.035415012,-0.041869354,-0.08558966,0.008347355,-0.106580235,-0.015998412,-0.0505478,0.055907845,0.029282788,0.035920862,-0.06762779,0.02744668,0.023212226,0.006140467,-0.035911787,0.0042435024,0.09860205,-0.04655194,-0.022944964,0.07731549,0.03849249,-0.0039689993,0.00035651872,0.04176032,-0.078849964,-0.08172602,-0.09221527,-0.05659806,-0.09664761,-0.0139263645,0.035202727,-0.0625197,0.027996542,0.010587392,-0.05142598,0.020238312,-0.092426255,0.058208004,-0.07988829,0.018460836,-0.04751174,0.05463678,-0.05668071,-0.098316126,-0.0005392474,0.09345308,0.006154529,0.014723322,0.03889479,-0.011355169,0.062761135,-0.06906697,-0.00905272,-0.053533327,0.01690267,0.083601296,0.02808163,0.043570954,-0.014422061,0.039465148,0.021958653,0.0010676491,-0.02508442,0.090512425,-0.065864325,0.060314994,0.0012564742,-0.04091017,0.043843266,0.053207777,-0.051155154,0.05305711,-0.050635915,-0.009001495,-0.05307699,-0.042024586,-0.047653012,0.048088036,0.0065534324,-0.038438376,-0.04944203,-0.0099394545,-0.024266085,-0.026546191,-0.019325089,0.042723455,0.068208106,-0.0007928496,-0.06921206,-0.06066659,-0.018597484,-0.06318982,0.044509668,-0.025145004,0.04375427,-0.048088778,0.03780677,-0.08259679,-0.033513464,-0.07232357,0.022977773,-0.06593892,0.017276958,-0.021589741,-0.027058404,-0.046023987,-0.042956967,-0.004035725,0.041524734,0.027954463,0.064485334,0.037278257,0.017403584,-0.06422627,-0.022881836,-0.028097292,0.055460308,-0.020834042,-0.05184541,0.020094655,-0.036410153,-0.089813635,-0.061481256,-0.05084579,-0.057844404,-0.047657393,0.01673223,0.038058985,0.004968603,-0.0077575594,-0.05221194,-0.0042318595,0.20176499,-0.0012037511,-0.048454154,-0.018690793,0.0562865,0.052329693,-0.038167436,-0.034386836,0.10411395,0.025734527,0.046855967,-0.015654387,0.06735943,-0.05440975,0.074269205,0.045916077,-0.008244698,0.027257195,0.027418464,0.04479943,-0.052104414,-0.014833379,-0.026703056,-0.09122293,-0.06787602,-0.060925573,-0.065425076,-0.17397425,0.052415397,-0.08785166,0.008452188,0.006392496,0.00796172,0.04745124,0.0020391264,-0.13677415,-0.050900094,-0.07816021,0.011626415,0.040326264,0.019247435,-0.020235876,-0.075597964,-0.042111717,-0.0075938,0.004904603,-0.023706185,-0.012243578,-0.06431075,0.052754413,-0.022450557,-0.11232317,-0.036646534,-0.004320482,0.06763088,0.042031992,-0.021474874,-0.014408302,0.04541691,0.02656089,-0.030175736,-0.063284524,-0.02785926,-0.049470093,0.0011061957,-0.030437572,0.089266986,-0.05321692,0.013422906,0.009071642,0.0036773237,0.020372875,0.09362433,-0.024045678,0.071162656,-0.059217393,-0.018524967,0.0652446,-0.059704125,-0.032411877,-0.05741655,-0.038965892,0.013507076,0.0864473,-0.011236504,-0.026697474,0.06646591,-0.07185231,-0.058692418,0.003133258,0.033251278,-0.111198254,0.0151195815,0.07037769,0.034012042,-0.0477486,0.0071726847,0.0038801194,-0.021776251,0.058395676,0.09588427,-0.016864143,0.04282632,-0.0020069387,0.040035494,0.0077799666,0.034612402,-0.09058714,-0.0045727445,0.0013676865,0.02076188,-0.0787446,0.046065807,0.06695579,-0.06264368,-0.0048702545,0.040773828,-0.010547772,-0.026640773,-0.008574926,-0.0046965866,0.052753277,-0.054991566,0.0072895605,-0.058189027,0.054799385,0.08353642,0.07676856,-0.015766177,0.052937288,0.006138823,0.0045835758,0.029585874,0.033408154,-0.029944625,-0.062228456,-0.011033601,-0.016255196,-0.013223681,-0.084622115,-0.028789368,0.00042881965,0.04346367,0.12195146,0.015206725,-0.012859963,-0.0114708785,0.003871524,0.019096525,-0.07684804,0.034424823,-0.06640739,-0.050308693,0.04798496,0.035621334,-0.012465481,0.047925953,0.040990174,-0.037339147,0.08945447,-0.044399627,0.057758287,-0.026033454,0.06621169,-0.05217805,0.060825657,0.04614878,-0.05722867,0.060405485,-0.0019750274,-0.02009773,-0.053811237,-0.037242472,-0.015515645,0.10074595,0.0065077003,0.05673413,-0.05578385,-0.03589407,-0.0009164038,-0.035264116,-0.048785742,0.038493283,0.03265237,0.046993766,0.0120541025,0.008589801,0.002002956,-0.0027900632,0.070701614,0.057943173,0.06842406,-0.030390741,-0.030601384,0.042800125,0.049960442,0.07060343,0.03055354,0.03850381,0.0047596004,0.0481584,-0.036208145,0.010853259,-0.051654242,-0.048006076,0.02971004,0.056711666,0.11949967,-0.017779171,0.041636173,0.020957101,-0.0033407668,0.054956958,-0.0663449,0.019690946,-0.0010949029,-0.0035890301,-0.024225876,-0.0016007284,-0.049838193,-0.00062212226,0.12329368]', '\x2ef21df8ef0a370b0e10fbe9fdf40708f5fe0002f60b0ff20819e4001c01ecf4fc0ffcfb031103fe0426f3f806f6f1f5e40503f7f2ee0c080104f7fd05090308d2e9010afd080bf6f3080bfefc13f7f6f601d912efd7ef0c0a08e5e301eaf0faf8f5e2e807f9f5f40211f50204fb0f0608050208f608020dfd00ef11e70a15f0e0fbf6031c1807f90607e7eeecfce006011e06e405011eea0c0be50108f503191110fff302e604e8f0f9090af2fbf2f6f31008fef3010e01dff9eefdf0081707f10500eb03ec2d270ff801f2020417db060a11f5fc0cf0fbf41fe6e8110df6f5f81cff03ff090f0e0517f0f60ffd03fbdcfa07fbfff5fc01f80209fae704fa0743e70704f60422fc012002d2e3ea0d0300f1fa030904f0eff912ea1409ecf5fc030100fefa0607f5031d02fc0cfb00f3f5f7fff5f7000101f803f500fdfafcfb');
INSERT INTO recollect_old.vectors VALUES (2, 1, 8, 0, 't', '9ff00897ede3ad44708af9982e252bfb', 10, '[0.054193307,-0.011487924,-0.09162153,-0.0065676807,0.041304145,-0.10319716,-0.008253099,0.03938885,-0.07849952,0.036640607,0.004996552,-0.032918815,0.041331377,-0.058241963,0.023907261,-0.054341648,0.059883464,0.05115427,-0.034994043,0.031039702,-0.09356247,0.006068579,0.0316691,0.056365572,0.014255229,0.026670996,0.008288631,0.06694703,0.033772603,0.014665632,-0.028116386,-0.0062110154,-0.07213137,0.013778078,-0.07116195,-0.06867711,-0.02852165,0.014574446,0.011621962,0.037046365,-0.041379318,0.035368472,0.019838067,0.006415304,-0.050984267,-0.028745847,0.05936456,0.022032341,-0.02284952,0.06133643,0.031423733,-0.029470148,-0.0025185037,0.051238738,-0.06757899,-0.08639356,-0.011227764,-0.09277165,-0.03735477,0.05974102,0.017162453,-0.022557652,0.020662645,-0.042852174,-0.055659182,-0.01747194,-0.10319884,-0.038287252,-0.05797333,0.04568578,-0.049544293,0.03191181,-0.053419136,-0.061944578,-0.05890511,0.07996605,-0.014537979,0.017765194,0.04064295,-0.0540405,0.006356539,-0.027529903,0.0036635478,0.022830745,0.02571477,0.065464094,0.028194953,0.019468086,0.035847794,0.056372505,0.006909864,-0.033488635,-0.011464122,0.09055537,-0.0789084,0.035169847,-0.006160114,-0.033208776,0.045447055,0.048794378,-0.007130679,0.015546513,-0.046365287,0.008483073,-0.053882614,0.0066093644,-0.04016015,0.058865383,0.035400514,-0.008180804,-0.053339187,0.01893297,-0.10333819,-0.07476156,0.02656779,0.006503658,0.031893175,0.085262574,-0.06454299,-0.042099983,-0.04612575,-0.00026011292,0.07537109,-0.012911652,0.054430697,-0.010943376,0.036869086,-0.059642695,-0.059450053,-0.09581361,0.09177732,-0.077615224,0.020524826,-0.0070991577,-0.07818404,-0.05930091,-0.08669598,-0.02125681,0.018419482,-0.025806356,0.002120107,0.040546052,0.059927706,-0.03539941,-0.0043501426,-0.09301128,0.05877085,-0.0073100864,-0.0414736,0.007634335,-0.024332145,-0.061275378,-0.0338473,-0.04793078,-0.08730806,-0.07603507,-0.048453905,0.059337545,-0.0436224,-0.06684028,-0.0916329,0.01699214,0.15130538,0.04564275,-0.050984763,-0.021916714,0.04750786,0.049904197,-0.08670714,-0.062269915,0.11705348,-0.019721244,0.052062023,0.052170645,0.06862847,-0.015200779,0.02901789,0.030742709,-0.02817802,0.078021586,0.034086764,0.089036934,-0.0401853,-0.027636053,-0.018136337,-0.07356769,-0.020602297,-0.032336853,-0.08121384,-0.1098761,0.055569373,-0.005173359,-0.0238836,0.05447765,0.022945622,0.016853122,-0.04455586,-0.096637465,-0.04025848,-0.06251255,0.026857221,0.03804447,0.005644755,-0.0067191864,-0.026937798,-0.052225363,0.008165484,-0.015498781,-0.018976681,-0.008858721,-0.042907592,0.050055116,-0.018634262,-0.078011505,-0.03673803,0.021230789,0.04804609,-0.010601879,-0.08427681,0.03021605,0.076593384,0.030181456,-0.05988974,-0.085789084,0.007600476,-0.05400371,0.015471932,-0.036179073,-0.0009964731,-0.026259879,0.056153428,-0.030859316,0.002372361,0.023858799,0.06650012,-0.06532509,0.10598589,-0.01621889,-0.04236647,0.059888855,-0.08335069,-0.0005264656,0.0043580784,-0.018838273,0.066862226,0.075904824,0.026762988,-0.0578694,5.9740364e-06,-0.08232348,-0.056516923,-0.07639132,0.07568429,-0.104037315,-0.014291902,0.045767337,0.035983186,-0.0846264,0.027790764,-0.034553155,-0.08269199,-0.023173269,0.05017707,-0.036426052,0.12741317,0.035710104,0.07607646,-0.037283994,-0.00025861955,-0.06484135,-0.041976,-0.0060445755,0.057391945,-0.0072112554,0.043139923,0.054598194,-0.08777174,0.028123062,0.049944002,-0.053087775,-0.03622129,0.04291279,-0.046376836,0.059621852,-0.06676716,0.013661507,-0.059348207,0.020536205,0.04959673,0.095862925,0.030798232,0.068573825,0.0049229437,0.03260151,0.05449508,0.0015418964,-0.048892118,-0.049595613,0.029612431,0.030716976,-0.013842722,-0.09012416,-0.036259074,0.0035140803,0.009723918,0.036192637,-0.034220472,0.018585963,-0.02750434,0.050894316,0.034142375,-0.006460205,0.03168261,-0.0179192,-0.05074092,0.05738017,0.112301975,-0.054386448,0.057267807,0.007814148,-0.025517419,0.13242832,-0.00045368847,0.043751076,-0.04764057,0.07861555,-0.05906487,0.021487914,0.020455314,-0.035746418,0.09557654,0.07234155,0.010586299,-0.03154336,0.009882621,-0.017549828,0.09829964,0.023509488,0.01911717,-0.10237716,-0.0124585265,-0.07786648,-0.059821412,0.025629163,0.016930632,-0.0006287806,-0.026228601,-0.018870773,0.02395123,0.028034085,0.03613026,0.03864791,0.024722053,0.08263564,-0.024471058,-0.014117189,0.0066541065,0.06194004,0.049995244,0.0062868805,0.08913562,0.012926472,0.011638015,-0.013875954,0.044817366,0.026949648,-0.056710843,0.002449502,0.048478264,0.12145769,-0.016178302,0.0030072853,0.07250182,0.013380466,0.08979939,-0.03967433,-0.039646544,-0.0011281486,-0.010218516,-0.05297516,0.078659944,-0.06994846,0.023461457,0.06981873]', '\xd4110edb0006fd09d7010008e0fcfe0ffd0ff9f7e9e802f101fbe8f208dd11f8fd01e6070df7f506070908fd060f1410120d15f607e4eb060e0d0201f9fd07fae318fdd30905e217e30003e9f214150cfb0c03020404f3f00e03fe0400e3211504fafc140ef702070c0415f812060c060c1b10f716e7ecfaf7f7020ff4fd02fe0529f7c7dcf4f3e6fb020ffdfefff7110ff11916110108fdfc1a06fe22090e160e0806f4feef0af7f6fefdfafdfb050a07fe17ef0c12edf10902f70506f305fb2f0df9e7e2f1f101ed3616daf203ea20fefc050f08f9f9ed0c090e0116020e060e08faf805f70f020bfe0ff8fd0507060b0217fc0afff1f504fe070e00f10801e009f8f7dbf0e5cdfc1de1f9e8080cf914f71e03070116e40e01fcfb1b04fd0c0c15fbf80bfc1601060909eff002fefafb040ef00b07ebfb0dfbfef6fbfdfffe3c06f9e8f7ff03feee3d10cce3f5011806ff0c0c03fff0fc0304020c11fd0cff050b08f909fd10f8010b09fe0005ff04070311f903f7f4fb02fc050e02f80304');


--
-- Data for Name: versions; Type: TABLE DATA; Schema: recollect_old; Owner: -
--

INSERT INTO recollect_old.versions VALUES (1, 1, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.customers.id', NULL, 'shop.customers.id
column, INT, primary key', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers.id","kind":"column","name":"id","parent":"shop.customers"}}', '["shop.customers.id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 2, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.customers.country', NULL, 'shop.customers.country
column, TEXT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers.country","kind":"column","name":"country","parent":"shop.customers"}}', '["shop.customers.country"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 3, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders.id', NULL, 'shop.orders.id
column, INT, primary key', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.id","kind":"column","name":"id","parent":"shop.orders"}}', '["shop.orders.id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 4, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders.customer_id', NULL, 'shop.orders.customer_id
column, INT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.customer_id","kind":"column","name":"customer_id","parent":"shop.orders"}}', '["shop.orders.customer_id"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 5, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders.amount', NULL, 'shop.orders.amount
column, DOUBLE
description: Gross amount in cents.', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.amount","kind":"column","name":"amount","parent":"shop.orders"}}', '["shop.orders.amount"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 6, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders.is_returned', NULL, 'shop.orders.is_returned
column, INT', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.is_returned","kind":"column","name":"is_returned","parent":"shop.orders"}}', '["shop.orders.is_returned"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 7, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders.revenue', NULL, 'shop.orders.revenue
measure
description: What customers paid.
formula: amount:sum', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders.revenue","kind":"measure","name":"revenue","parent":"shop.orders"}}', '["shop.orders.revenue"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 8, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.customers', NULL, 'shop.customers
description: Everyone who has an account.
table: public.customers
columns: id, country', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.customers","kind":"model","name":"customers","parent":"shop","fingerprint":"1.777488285d10cb5a7b4444b87035ca33e899986df3a5e89b40f609293fae4609","document":{"datasource":"shop","name":"customers","form":"table","description":"Everyone who has an account.","state":"present","parts":[{"name":"id","kind":"column","type":"INT","details":{"primary_key":true}},{"name":"country","kind":"column","type":"TEXT"}],"details":{"sql_table":"public.customers"}}}}', '["shop.customers"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 9, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop.orders', NULL, 'shop.orders
description: Every order, one row each.
table: public.orders
columns: id, customer_id, amount, is_returned
measures: revenue
joins: customers (customer_id = id)', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop.orders","kind":"model","name":"orders","parent":"shop","fingerprint":"1.4c297d1c56ecf86c1be1cce90b87f4f8c344f06e08fe03742f7cede9bfddf9cc","document":{"datasource":"shop","name":"orders","form":"table","description":"Every order, one row each.","state":"present","parts":[{"name":"id","kind":"column","type":"INT","details":{"primary_key":true}},{"name":"customer_id","kind":"column","type":"INT"},{"name":"amount","kind":"column","description":"Gross amount in cents.","type":"DOUBLE"},{"name":"is_returned","kind":"column","type":"INT"},{"name":"revenue","kind":"measure","description":"What customers paid.","details":{"formula":"amount:sum"}}],"joins":[{"target":"customers","pairs":[["customer_id","id"]],"kind":"left"}],"details":{"sql_table":"public.orders"}}}}', '["shop.orders"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (1, 10, 1, 1772366401000000, NULL, 'ingest', 'ann', 'person', 'reference', 'entity', 'shop', NULL, 'shop
description: The database of the shop.
models: customers, orders', '[]', NULL, 'high', NULL, '{"entity":{"canonical":"shop","kind":"datasource","name":"shop","origin":"/tmp/shop","document":{"name":"shop","description":"The database of the shop.","details":{"type":"postgres"}}}}', '["shop"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'import', 1772366401000000, 1772366401000000, 1772366401000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 2, 1, 1772366408000000, NULL, 'remember', 'ann', 'person', 'learning', 'knowledge', 'NULL in orders.is_returned means not returned.', NULL, 'NULL in orders.is_returned means not returned.', '["orders"]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366408000000, 1772366408000000, 1772366408000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 3, 1, 1772366411000000, NULL, 'remember', 'ann', 'person', 'fact', 'knowledge', 'Revenue is gross since May.', NULL, 'Revenue is gross since May.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366411000000, 1772366411000000, 1772323200000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 1, 1, 1772366405000000, 1772366411000000, 'remember', 'ann', 'person', 'decision', 'event', 'Revenue is net of refunds: use orders.amount_net.', NULL, 'Revenue is net of refunds: use orders.amount_net.', '["orders","finance"]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366405000000, 1772366405000000, 1772366405000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 1, 2, 1772366411000000, NULL, 'supersede', 'ann', 'person', 'decision', 'event', 'Revenue is net of refunds: use orders.amount_net.', NULL, 'Revenue is net of refunds: use orders.amount_net.', '["orders","finance"]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366405000000, 1772366411000000, 1772366405000000, 1772366405000000, NULL, 'superseded', 'superseded by 3', false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 4, 1, 1772366414000000, 1772366416000000, 'remember', 'ann', 'person', 'fact', 'knowledge', 'When may one deploy?', 'When may one deploy?', 'Deploys are frozen on Fridays.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366414000000, 1772366414000000, 1772366414000000, NULL, NULL, 'active', NULL, true, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 4, 2, 1772366416000000, NULL, 'revise', 'ann', 'person', 'fact', 'knowledge', 'When may one deploy?', 'When may one deploy?', 'Deploys are frozen on Fridays and before holidays.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366414000000, 1772366416000000, 1772366414000000, NULL, NULL, 'active', NULL, true, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 5, 1, 1772366419000000, NULL, 'remember', 'ann', 'person', 'fact', 'knowledge', 'Кириллица, 日本語 and naïve <b>tags</b> 🐦 stay as they are.', NULL, 'Кириллица, 日本語 and naïve <b>tags</b> 🐦 stay as they are.', '[]', NULL, 'medium', NULL, '{"a":{"b":[1,null,2.5]}}', '[]', NULL, NULL, 'user', 'ann', NULL, NULL, NULL, 'person', 1772366419000000, 1772366419000000, 1772366419000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 6, 1, 1772366425000000, 1772366426000000, 'remember', 'ann', 'person', 'fact', 'knowledge', 'Gone soon.', NULL, 'Gone soon.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366425000000, 1772366425000000, 1772366425000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 6, 2, 1772366426000000, NULL, 'retire', 'ann', 'person', 'fact', 'knowledge', 'Gone soon.', NULL, 'Gone soon.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366425000000, 1772366426000000, 1772366425000000, 1772366426000000, NULL, 'archived', 'It is over.', false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (3, 1, 1, 1772366429000000, NULL, 'remember', 'ann', 'person', 'fact', 'knowledge', 'Everyone should know this.', NULL, 'Everyone should know this.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'global', 'ann', NULL, NULL, NULL, 'person', 1772366429000000, 1772366429000000, 1772366429000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 7, 1, 1772366432000000, NULL, 'remember', 'ann', 'person', 'fact', 'knowledge', 'The customers table has one row a customer.', NULL, 'The customers table has one row a customer.', '[]', NULL, 'medium', NULL, '{}', '["shop.customers"]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'person', 1772366432000000, 1772366432000000, 1772366432000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (4, 1, 1, 1772366443000000, NULL, 'remember', 'carl', 'person', 'fact', 'knowledge', 'What acme knows.', NULL, 'What acme knows.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'carl', NULL, NULL, NULL, 'person', 1772366443000000, 1772366443000000, 1772366443000000, NULL, NULL, 'active', NULL, false, NULL, NULL);
INSERT INTO recollect_old.versions VALUES (2, 8, 1, 1772366446000000, NULL, 'remember', 'ann', 'unattended', 'fact', 'knowledge', 'Refunds take a week.', NULL, 'Refunds take a week.', '[]', NULL, 'medium', NULL, '{}', '[]', NULL, NULL, 'tenant', 'ann', NULL, NULL, NULL, 'unattended', 1772366446000000, 1772366446000000, 1772366446000000, NULL, NULL, 'pending', NULL, false, NULL, NULL);


--
-- Name: models_key_seq; Type: SEQUENCE SET; Schema: recollect_old; Owner: -
--

SELECT pg_catalog.setval('recollect_old.models_key_seq', 3, true);


--
-- Name: tenants_key_seq; Type: SEQUENCE SET; Schema: recollect_old; Owner: -
--

SELECT pg_catalog.setval('recollect_old.tenants_key_seq', 4, true);


--
-- Name: agent_settings agent_settings_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.agent_settings
    ADD CONSTRAINT agent_settings_key PRIMARY KEY (tenant, agent);


--
-- Name: api_keys api_keys_id; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.api_keys
    ADD CONSTRAINT api_keys_id UNIQUE (tenant, id);


--
-- Name: api_keys api_keys_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.api_keys
    ADD CONSTRAINT api_keys_key PRIMARY KEY (hash);


--
-- Name: artifacts artifacts_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.artifacts
    ADD CONSTRAINT artifacts_key PRIMARY KEY (tenant, id);


--
-- Name: artifacts artifacts_path; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.artifacts
    ADD CONSTRAINT artifacts_path UNIQUE (tenant, conversation, path);


--
-- Name: audit audit_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.audit
    ADD CONSTRAINT audit_key PRIMARY KEY (tenant, number);


--
-- Name: conversations conversations_id; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.conversations
    ADD CONSTRAINT conversations_id UNIQUE (tenant, id);


--
-- Name: conversations conversations_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.conversations
    ADD CONSTRAINT conversations_key PRIMARY KEY (tenant, "row");


--
-- Name: embedded embedded_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.embedded
    ADD CONSTRAINT embedded_key PRIMARY KEY (tenant, model);


--
-- Name: facets facets_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.facets
    ADD CONSTRAINT facets_key PRIMARY KEY (tenant, facet, "row");


--
-- Name: idempotency idempotency_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.idempotency
    ADD CONSTRAINT idempotency_key PRIMARY KEY (tenant, "user", key);


--
-- Name: jobs jobs_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.jobs
    ADD CONSTRAINT jobs_key PRIMARY KEY (tenant, name, subject);


--
-- Name: memories memories_id; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.memories
    ADD CONSTRAINT memories_id UNIQUE (tenant, id);


--
-- Name: memories memories_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.memories
    ADD CONSTRAINT memories_key PRIMARY KEY (tenant, "row");


--
-- Name: models models_pkey; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (key);


--
-- Name: models models_same; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.models
    ADD CONSTRAINT models_same UNIQUE (name, dimensions, file_hash);


--
-- Name: numbers numbers_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.numbers
    ADD CONSTRAINT numbers_key PRIMARY KEY (tenant, name);


--
-- Name: postings postings_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.postings
    ADD CONSTRAINT postings_key PRIMARY KEY (tenant, term, audience, "row") INCLUDE (weight, length);


--
-- Name: recollect_version recollect_version_pkc; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.recollect_version
    ADD CONSTRAINT recollect_version_pkc PRIMARY KEY (version_num);


--
-- Name: relations relations_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.relations
    ADD CONSTRAINT relations_key PRIMARY KEY (tenant, id);


--
-- Name: scratchpads scratchpads_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.scratchpads
    ADD CONSTRAINT scratchpads_key PRIMARY KEY (tenant, agent, number);


--
-- Name: store_facts store_facts_pkey; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.store_facts
    ADD CONSTRAINT store_facts_pkey PRIMARY KEY (name);


--
-- Name: tenants tenants_name_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.tenants
    ADD CONSTRAINT tenants_name_key UNIQUE (name);


--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (key);


--
-- Name: terms terms_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.terms
    ADD CONSTRAINT terms_key PRIMARY KEY (tenant, term);


--
-- Name: vectors vectors_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.vectors
    ADD CONSTRAINT vectors_key PRIMARY KEY (tenant, model, "row", passage);


--
-- Name: versions versions_key; Type: CONSTRAINT; Schema: recollect_old; Owner: -
--

ALTER TABLE ONLY recollect_old.versions
    ADD CONSTRAINT versions_key PRIMARY KEY (tenant, "row", version);


--
-- Name: artifacts_size; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX artifacts_size ON recollect_old.artifacts USING btree (tenant, conversation, size);


--
-- Name: audit_api_key; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX audit_api_key ON recollect_old.audit USING btree (tenant, key, at) WHERE (key IS NOT NULL);


--
-- Name: audit_run; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX audit_run ON recollect_old.audit USING btree (tenant, run) WHERE (run IS NOT NULL);


--
-- Name: idempotency_at; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX idempotency_at ON recollect_old.idempotency USING btree (tenant, at);


--
-- Name: jobs_due; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX jobs_due ON recollect_old.jobs USING btree (due_at);


--
-- Name: memories_content; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX memories_content ON recollect_old.memories USING btree (tenant, content_hash);


--
-- Name: memories_newest; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX memories_newest ON recollect_old.memories USING btree (tenant, updated_at, "row");


--
-- Name: memories_pinned; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX memories_pinned ON recollect_old.memories USING btree (tenant, conversation, updated_at, "row") WHERE (conversation IS NOT NULL);


--
-- Name: memories_recorded; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX memories_recorded ON recollect_old.memories USING btree (tenant, recorded_at);


--
-- Name: relations_source; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX relations_source ON recollect_old.relations USING btree (tenant, source);


--
-- Name: relations_target; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX relations_target ON recollect_old.relations USING btree (tenant, target);


--
-- Name: relations_triple; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE UNIQUE INDEX relations_triple ON recollect_old.relations USING btree (tenant, source, target, relation) WHERE (removed_at IS NULL);


--
-- Name: scratchpads_size; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX scratchpads_size ON recollect_old.scratchpads USING btree (tenant, agent, size);


--
-- Name: vectors_audience; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX vectors_audience ON recollect_old.vectors USING btree (tenant, model, audience);


--
-- Name: vectors_changed; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX vectors_changed ON recollect_old.vectors USING btree (tenant, model, stamp);


--
-- Name: vectors_text; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX vectors_text ON recollect_old.vectors USING btree (tenant, text_hash) WHERE (passage = 0);


--
-- Name: versions_recorded; Type: INDEX; Schema: recollect_old; Owner: -
--

CREATE INDEX versions_recorded ON recollect_old.versions USING btree (tenant, recorded_at);


--
-- PostgreSQL database dump complete
--

\unrestrict B88fdLlDTXqEt5VBnkOJhPI6YiRkMV4bRcvPhmw90Rn1BVscNabGBdWLghpq61F

