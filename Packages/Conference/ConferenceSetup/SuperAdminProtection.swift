import EventModels
import TomboloPostgresStore

/// What the database itself enforces about the platform's roles, whatever service writes:
///
/// - A user's `is_super_admin` follows the assignments: rules look at only one row, so the row must have this value
///   itself.
/// - Database roles of other services can neither give nor take the platform's roles, nor change or delete a super
///   administrator. The owner, the gateway and the admin server may do what their users may. Only these two tables
///   need RLS policies besides the trash's.
enum SuperAdminProtection {
    static let trigger = "tombolo_super_admin"
    static let platformRoles = RoleName.platformRoles.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")

    private static let isSuperAdmin = """
        EXISTS (SELECT 1 FROM \(Conference.assignments) a
                    WHERE a."user" = %@ AND a.role = '\(RoleName.superAdmin.rawValue)' AND a.event IS NULL)
        """

    private static func condition(_ user: String) -> String { isSuperAdmin.replacing("%@", with: user) }

    private static let userFunction = ConferenceFunction(
        name: "keep_super_admin",
        body: """

            BEGIN
                NEW.is_super_admin := \(condition("NEW._id"));
                RETURN NEW;
            END
            """)

    /// Locks the user's row before counting the assignments in a separate statement, so that of two concurrent
    /// changes at least one sees the other.
    private static let assignmentFunction = ConferenceFunction(
        name: "mark_super_admin",
        body: """

            DECLARE
                v_users bytea[] := '{}';
                v_user bytea;
                v_is boolean;
            BEGIN
                IF TG_OP <> 'INSERT' THEN
                    IF OLD.role = '\(RoleName.superAdmin.rawValue)' THEN v_users := v_users || OLD."user"; END IF;
                END IF;
                IF TG_OP <> 'DELETE' THEN
                    IF NEW.role = '\(RoleName.superAdmin.rawValue)' THEN v_users := v_users || NEW."user"; END IF;
                END IF;
                FOR v_user IN SELECT DISTINCT u FROM unnest(v_users) AS u WHERE u IS NOT NULL ORDER BY u LOOP
                    PERFORM 1 FROM \(Conference.users) c WHERE c._id = v_user FOR NO KEY UPDATE;
                    v_is := \(condition("v_user"));
                    UPDATE \(Conference.users) c SET is_super_admin = v_is
                        WHERE c._id = v_user AND c.is_super_admin <> v_is;
                END LOOP;
                RETURN NULL;
            END
            """)

    static let functions = [userFunction, assignmentFunction]

    /// Names as `table.trigger`.
    static let triggers: Set<String> = [
        "\(Conference.usersTable).\(trigger)", "\(Conference.assignmentsTable).\(trigger)",
    ]

    /// Names as `table.policy`.
    static let policies: Set<String> = Set(
        ["read", "give", "change", "take"].map { "\(Conference.assignmentsTable).tombolo_\($0)" }
            + ["change", "take"].map { "\(Conference.usersTable).tombolo_\($0)_user" })

    /// True for the roles of the gateway and the admin server. It tests a right that each of them has and no other
    /// service does. Restrictive policies apply to everybody except the owner, so they must make this exception
    /// themselves.
    private static let isServer = """
        has_column_privilege('tombolo.changelog'::regclass, 'client', 'INSERT') \
        OR has_function_privilege('tombolo.restore(text, text)'::regprocedure, 'EXECUTE')
        """
    private static let ordinary = "USING (NOT is_super_admin OR \(isServer))"

    /// Creates everything. Idempotent.
    static let sql = """
        \(userFunction.sql);
        \(assignmentFunction.sql);
        \(userFunction.trigger(trigger, "BEFORE INSERT OR UPDATE OF is_super_admin", on: Conference.users));
        \(assignmentFunction.trigger(trigger, "AFTER INSERT OR UPDATE OR DELETE", on: Conference.assignments));
        UPDATE \(Conference.users) c SET is_super_admin = NOT c.is_super_admin
        WHERE c.is_super_admin <> \(condition("c._id"));
        ALTER TABLE \(Conference.assignments) ENABLE ROW LEVEL SECURITY;
        \(policy("read", Conference.assignments, "FOR SELECT TO PUBLIC USING (true)"));
        \(policy("give", Conference.assignments, "FOR INSERT TO PUBLIC WITH CHECK (role NOT IN (\(platformRoles)))"));
        \(policy("change", Conference.assignments, "FOR UPDATE TO PUBLIC USING (role NOT IN (\(platformRoles)))"));
        \(policy("take", Conference.assignments, "FOR DELETE TO PUBLIC USING (role NOT IN (\(platformRoles)))"));
        DROP POLICY IF EXISTS tombolo_change ON \(Conference.users);
        DROP POLICY IF EXISTS tombolo_take ON \(Conference.users);
        \(policy("change_user", Conference.users, "AS RESTRICTIVE FOR UPDATE TO PUBLIC \(ordinary)"));
        \(policy("take_user", Conference.users, "AS RESTRICTIVE FOR DELETE TO PUBLIC \(ordinary)"))
        """

    /// The steps that are still missing.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let isCurrent =
            live.triggers.isSuperset(of: triggers) && live.policies.isSuperset(of: policies)
            && functions.allSatisfy { live.functions[$0.name] == $0.body }
        return isCurrent ? [] : [SchemaStep(name: "protection of super administrators", sql: sql)]
    }

    private static func policy(_ name: String, _ table: String, _ definition: String) -> String {
        """
        DROP POLICY IF EXISTS tombolo_\(name) ON \(table);
        CREATE POLICY tombolo_\(name) ON \(table) \(definition)
        """
    }
}
