import EventModels
import TomboloPostgresStore

/// Keeps users in the trash who own or organize an event that isn't over: the purge asks `tombolo.keep_users_in_trash`.
enum TrashedUsers {
    private static let name = "keep_\(Conference.usersTable)_in_trash"
    private static let roles = [RoleName.owner, .organizer].map { "'\($0.rawValue)'" }.joined(separator: ", ")

    private static let body = """

        DECLARE
            v_name text;
            v_end timestamptz;
        BEGIN
            SELECT e.name, e.ends_at INTO v_name, v_end
            FROM \(Conference.assignments) a JOIN public.event e ON e._id = a.event
            WHERE a."user" = decode(p_key, 'hex') AND a.role IN (\(roles)) AND e.trashed_at IS NULL AND e.ends_at > p_now
            ORDER BY e.ends_at DESC LIMIT 1;
            IF NOT FOUND THEN
                RETURN NULL;
            END IF;
            RETURN format('owns or organizes the event "%s", which ends at %s', v_name,
                to_char(v_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
        END
        """

    /// What is missing.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        guard live.functions[name] != body else { return [] }
        return [
            SchemaStep(
                name: "users that stay in the trash",
                sql: """
                    CREATE OR REPLACE FUNCTION tombolo.\(name)(p_key text, p_now timestamptz) RETURNS text LANGUAGE plpgsql
                    STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
                    REVOKE ALL ON FUNCTION tombolo.\(name)(text, timestamptz) FROM PUBLIC
                    """)
        ]
    }
}
