/// The tables of accounts. They have no model class, so nothing that works on classes (sync, lists, exports) can reach
/// them.
public enum AuthenticationSchema {
    /// Stands for the class in changelog rows about accounts; the key is the user's id in hexadecimal.
    public static let changelogClass: Int16 = -1

    /// The longest value in `tombolo.setting`.
    package static let maximumSettingByteCount = 2_000

    /// The SQL that creates all of it. It's idempotent. Writing to the tables requires the changelog.
    public static let sql = """
        CREATE SCHEMA IF NOT EXISTS tombolo;
        CREATE TABLE IF NOT EXISTS tombolo.account (
            id bytea PRIMARY KEY CHECK (octet_length(id) = 12),
            email text COLLATE "C" UNIQUE,
            display_name text COLLATE "C" NOT NULL DEFAULT '',
            custom_data jsonb NOT NULL DEFAULT '{}' CONSTRAINT custom_data_object_of_at_most_16_kib
                CHECK (jsonb_typeof(custom_data) = 'object'
                    AND octet_length(custom_data::text) <= \(AccountRegistry.maximumCustomDataByteCount)),
            disabled_at timestamptz,
            created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            verified_at timestamptz
        );
        ALTER TABLE tombolo.account ADD COLUMN IF NOT EXISTS verified_at timestamptz;
        COMMENT ON TABLE tombolo.account IS 'Who may log in. The id is an ObjectId.';
        COMMENT ON COLUMN tombolo.account.email IS 'In lower case; NULL for an account that logs in otherwise.';
        COMMENT ON COLUMN tombolo.account.custom_data IS 'What rules call %%user.custom_data.';
        COMMENT ON COLUMN tombolo.account.verified_at IS 'Since when the address is known to be the user''s; goes with it.';
        CREATE TABLE IF NOT EXISTS tombolo.credential (
            user_id bytea PRIMARY KEY REFERENCES tombolo.account (id) ON DELETE CASCADE,
            algorithm text NOT NULL CHECK (algorithm = 'scrypt'),
            rounds bigint NOT NULL CHECK (rounds > 1),
            block_size bigint NOT NULL CHECK (block_size > 0),
            parallelism bigint NOT NULL CHECK (parallelism > 0),
            salt bytea NOT NULL CHECK (octet_length(salt) >= \(PasswordHash.saltByteCount)),
            key bytea NOT NULL CHECK (octet_length(key) = \(PasswordHash.keyByteCount)),
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.credential IS 'Password hashes: for the login services only.';
        CREATE TABLE IF NOT EXISTS tombolo.token_generation (
            user_id bytea PRIMARY KEY REFERENCES tombolo.account (id) ON DELETE CASCADE,
            generation bigint NOT NULL CHECK (generation > 0),
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.token_generation IS
            'Access tokens of another generation are revoked; a user without a row has generation 0.';
        \(SessionSchema.sql)
        \(PanelSchema.sql)
        \(SecondFactorSchema.sql)
        \(KeySchema.sql)
        \(ProviderSchema.sql)
        \(InvitationSchema.sql)
        \(AttemptSchema.sql)
        \(functions.sorted { $0.key < $1.key }.map { function($0.key, $0.value) }.joined(separator: ";\n"));
        \(trigger("log_account", "AFTER INSERT OR UPDATE OR DELETE", "account"));
        CREATE OR REPLACE TRIGGER tombolo_unverify BEFORE UPDATE OF email ON tombolo.account
        FOR EACH ROW EXECUTE FUNCTION tombolo.unverify_account();
        ALTER TABLE tombolo.account ENABLE ALWAYS TRIGGER tombolo_unverify;
        \(trigger("log_credential", "AFTER UPDATE OF changed_at", "credential"));
        \(trigger("log_token_generation", "AFTER INSERT OR UPDATE OR DELETE", "token_generation"));
        \(SessionSchema.triggers);
        \(trigger("log_panel_viewing", "AFTER INSERT OR UPDATE", "panel_viewing"));
        \(trigger("log_panel_backup", "AFTER INSERT", "panel_backup"));
        \(trigger("log_panel_restore", "AFTER INSERT", "panel_restore"));
        \(trigger("log_panel_run", "AFTER INSERT", "panel_run"));
        \(trigger("log_setting", "AFTER INSERT", "setting"));
        """

    /// The tables in `tombolo` that ``sql`` creates.
    public static let tables: Set<String> = SessionSchema.tables.union(KeySchema.tables).union(ProviderSchema.tables)
        .union(PanelSchema.tables).union(SecondFactorSchema.tables).union(InvitationSchema.tables)
        .union(AttemptSchema.tables).union([
            "account", "credential", "token_generation",
        ])

    /// The bodies of the functions in `tombolo` that ``sql`` creates, by name. A database that has them also has the
    /// triggers that call them.
    public static let functions = [
        "log_account": logBody(
            key: "id",
            telling: ["email", "display_name", "custom_data", "disabled_at", "verified_at", "second_factor_at"]),
        "unverify_account": """

        BEGIN
            IF NEW.email IS DISTINCT FROM OLD.email AND NEW.verified_at IS NOT DISTINCT FROM OLD.verified_at THEN
                NEW.verified_at := NULL;
            END IF;
            RETURN NEW;
        END
        """,
        "log_panel_viewing": logBody(key: "user_id", telling: ["viewed", "began_at", "ended_at"]),
        "log_panel_backup": logBody(key: "user_id", telling: ["act", "backup"]),
        "log_panel_restore": logBody(key: "user_id", telling: ["act", "source"]),
        "log_panel_run": logBody(key: "user_id", telling: ["routine"]),
        "log_setting": logBody(key: "user_id", telling: ["name", "shown"]),
        "log_credential": logBody(key: "user_id", telling: ["changed_at"]),
        "log_token_generation": logBody(key: "user_id", telling: ["generation"]),
        "log_login_session": logBody(
            key: "user_id",
            telling: ["id", "provider", "device_name", "device_platform", "device_app", "revoked_at", "end_reason"]),
    ]

    /// The tables that a database role must read to check access tokens, besides those that roles come from.
    public static let tokenTables = [
        "tombolo.account", "tombolo.token_generation", "tombolo.login_session",
        "tombolo.signing_key",
    ]

    /// Tells gateways, with the next tick, to read the account again, and the audit log what changed.
    /// - Parameter columns: what the audit log may know, never a secret.
    private static func logBody(key: String, telling columns: [String]) -> String {
        let facts = "jsonb_object_agg(f.k, f.v) FILTER (WHERE f.k = ANY ('{\(columns.joined(separator: ","))}'))"
        return """

            DECLARE
                v_keys bytea[] := '{}';
                v_before jsonb := '{}';
                v_after jsonb := '{}';
            BEGIN
                IF TG_OP = 'UPDATE' THEN
                    IF OLD IS NOT DISTINCT FROM NEW THEN
                        RETURN NULL;
                    END IF;
                END IF;
                IF TG_OP <> 'INSERT' THEN
                    v_keys := v_keys || OLD.\(key);
                    v_before := (SELECT coalesce(\(facts), '{}') FROM jsonb_each(to_jsonb(OLD)) AS f (k, v));
                END IF;
                IF TG_OP <> 'DELETE' THEN
                    v_keys := v_keys || NEW.\(key);
                    v_after := (SELECT coalesce(\(facts), '{}') FROM jsonb_each(to_jsonb(NEW)) AS f (k, v));
                END IF;
                INSERT INTO tombolo.changelog (class, key, operation, stamp, marks)
                SELECT \(changelogClass), encode(k, 'hex'),
                    CASE WHEN TG_OP = 'INSERT' AND TG_TABLE_NAME = 'account' THEN 'c'::"char" ELSE 'u'::"char" END,
                    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                    jsonb_build_object('table', TG_TABLE_NAME,
                        'before', (SELECT coalesce(jsonb_object_agg(f.k, f.v), '{}') FROM jsonb_each(v_before) AS f (k, v)
                            WHERE f.v IS DISTINCT FROM v_after -> f.k),
                        'after', (SELECT coalesce(jsonb_object_agg(f.k, f.v), '{}') FROM jsonb_each(v_after) AS f (k, v)
                            WHERE f.v IS DISTINCT FROM v_before -> f.k))::text
                FROM (SELECT DISTINCT unnest(v_keys)) AS changed (k);
                RETURN NULL;
            END
            """
    }

    private static func function(_ name: String, _ body: String) -> String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)() FROM PUBLIC
        """
    }

    private static func trigger(_ function: String, _ when: String, _ table: String) -> String {
        """
        CREATE OR REPLACE TRIGGER tombolo_log \(when) ON tombolo.\(table) \
        FOR EACH ROW EXECUTE FUNCTION tombolo.\(function)();
        ALTER TABLE tombolo.\(table) ENABLE ALWAYS TRIGGER tombolo_log
        """
    }
}
