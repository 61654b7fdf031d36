/// The running gateways, and the questions that the admin server asks them. Nothing in these tables needs to survive
/// a crash of PostgreSQL, so they are unlogged: they cost no write-ahead log, and standbys don't have them.
extension SystemRelation {
    static let inspector: [SystemRelation] = [
        SystemRelation(
            name: "gateway",
            sql: """
                CREATE UNLOGGED TABLE IF NOT EXISTS tombolo.gateway (
                    id text COLLATE "C" PRIMARY KEY,
                    name text COLLATE "C" NOT NULL,
                    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    sessions bigint NOT NULL DEFAULT 0
                );
                COMMENT ON TABLE tombolo.gateway IS \
                'The gateways that run: each notes every few seconds that it is there.'
                """),
        SystemRelation(
            name: "inspector_question",
            sql: """
                CREATE UNLOGGED TABLE IF NOT EXISTS tombolo.inspector_question (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    user_id bytea NOT NULL CHECK (octet_length(user_id) = 12),
                    session_id bytea NOT NULL CHECK (octet_length(session_id) = 12),
                    gateway text COLLATE "C",
                    request text COLLATE "C" NOT NULL
                        CHECK (octet_length(request) <= \(InspectorLimits.maximumRequestByteCount)),
                    asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
                );
                COMMENT ON TABLE tombolo.inspector_question IS \
                'What users of the admin panel ask the inspectors of gateways, of one or of all. Each gateway decides by \
                the rights of the user whose login it is.'
                """),
        SystemRelation(
            name: "inspector_answer",
            sql: """
                CREATE UNLOGGED TABLE IF NOT EXISTS tombolo.inspector_answer (
                    question bigint NOT NULL REFERENCES tombolo.inspector_question (id) ON DELETE CASCADE,
                    gateway text COLLATE "C" NOT NULL,
                    status smallint NOT NULL,
                    body text COLLATE "C" NOT NULL
                        CHECK (octet_length(body) <= \(InspectorLimits.maximumAnswerByteCount)),
                    PRIMARY KEY (question, gateway)
                );
                COMMENT ON TABLE tombolo.inspector_answer IS \
                'What gateways answered, as their HTTP routes do. It goes as soon as it was read.'
                """),
    ]
}
