import EventModels
import TomboloPostgresStore

/// Keeps users in the trash who own or organize an event that isn't over, or have an order for one. The purge asks
/// `tombolo.keep_users_in_trash`, which returns the reason that lasts longest.
enum TrashedUsers {
    private static let name = "keep_\(Conference.usersTable)_in_trash"
    private static let roles = [RoleName.owner, .organizer].map { "'\($0.rawValue)'" }.joined(separator: ", ")
    private static let states = OrderState.standing.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    private static let body = """

        DECLARE
            v_user bytea := decode(p_key, 'hex');
            v_part text;
            v_name text;
            v_end timestamptz;
        BEGIN
            SELECT p.part, e.name, e.ends_at INTO v_part, v_name, v_end
            FROM (
                SELECT 'owns or organizes' AS part, a.event FROM \(Conference.assignments) a
                WHERE a."user" = v_user AND a.role IN (\(roles))
                UNION ALL
                SELECT 'has an order for', o.event FROM \(Conference.orders) o
                WHERE o.buyer = v_user AND o.state IN (\(states)) AND o.trashed_at IS NULL
            ) p JOIN public.event e ON e._id = p.event
            WHERE e.trashed_at IS NULL AND e.ends_at > p_now
            ORDER BY e.ends_at DESC, p.part DESC LIMIT 1;
            IF NOT FOUND THEN
                RETURN NULL;
            END IF;
            RETURN format('%s the event "%s", which ends at %s', v_part, v_name,
                to_char(v_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
        END
        """

    /// The steps that are still missing.
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
