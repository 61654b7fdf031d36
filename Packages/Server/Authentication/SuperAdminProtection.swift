import EventModels

/// What the database itself holds about roles of the platform, whatever service writes:
///
/// - `is_super_admin` of a user follows the assignments: rules look at one row only, so that the row has to say it.
/// - Database roles that don't own the tables neither give nor take the platform's roles, nor change or delete a super
///   administrator. Of RLS policies only these two tables need more than the trash's.
enum SuperAdminProtection {
    static let userFunction = "keep_super_admin"
    static let assignmentFunction = "mark_super_admin"
    static let trigger = "tombolo_super_admin"
    static let platformRoles = RoleName.platformRoles.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")

    private static let isSuperAdmin = """
        EXISTS (SELECT 1 FROM public.\(Accounts.assignments) a
                    WHERE a."user" = %@ AND a.role = '\(RoleName.superAdmin.rawValue)' AND a.event IS NULL)
        """

    private static func condition(_ user: String) -> String { isSuperAdmin.replacing("%@", with: user) }

    private static let userBody = """

        BEGIN
            NEW.is_super_admin := \(condition("NEW._id"));
            RETURN NEW;
        END
        """

    /// The user's row is locked before the assignments are counted, in a statement of its own, so that two changes at
    /// the same time do not both count without the other's.
    private static let assignmentBody = """

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
                PERFORM 1 FROM public.\(Accounts.users) c WHERE c._id = v_user FOR NO KEY UPDATE;
                v_is := \(condition("v_user"));
                UPDATE public.\(Accounts.users) c SET is_super_admin = v_is
                    WHERE c._id = v_user AND c.is_super_admin <> v_is;
            END LOOP;
            RETURN NULL;
        END
        """

    /// Source texts by name, to compare with a database's.
    static let functions = [userFunction: userBody, assignmentFunction: assignmentBody]

    /// As `table.trigger`.
    static let triggers: Set<String> = [
        "\(Accounts.usersTable).\(trigger)", "\(Accounts.assignmentsTable).\(trigger)",
    ]

    /// As `table.policy`.
    static let policies: Set<String> = Set(
        ["read", "give", "change", "take"].map { "\(Accounts.assignmentsTable).tombolo_\($0)" }
            + ["change", "take"].map { "\(Accounts.usersTable).tombolo_\($0)" })

    /// Makes it all, again without harm.
    static let sql = """
        \(function(userFunction, userBody));
        \(function(assignmentFunction, assignmentBody));
        \(triggerSQL(Accounts.users, "BEFORE INSERT OR UPDATE OF is_super_admin", userFunction));
        \(triggerSQL(Accounts.assignments, "AFTER INSERT OR UPDATE OR DELETE", assignmentFunction));
        UPDATE public.\(Accounts.users) c SET is_super_admin = NOT c.is_super_admin
        WHERE c.is_super_admin <> \(condition("c._id"));
        ALTER TABLE public.\(Accounts.assignments) ENABLE ROW LEVEL SECURITY;
        \(policy("read", Accounts.assignments, "FOR SELECT TO PUBLIC USING (true)"));
        \(policy("give", Accounts.assignments, "FOR INSERT TO PUBLIC WITH CHECK (role NOT IN (\(platformRoles)))"));
        \(policy("change", Accounts.assignments, "FOR UPDATE TO PUBLIC USING (role NOT IN (\(platformRoles)))"));
        \(policy("take", Accounts.assignments, "FOR DELETE TO PUBLIC USING (role NOT IN (\(platformRoles)))"));
        \(policy("change", Accounts.users, "AS RESTRICTIVE FOR UPDATE TO PUBLIC USING (NOT is_super_admin)"));
        \(policy("take", Accounts.users, "AS RESTRICTIVE FOR DELETE TO PUBLIC USING (NOT is_super_admin)"))
        """

    private static func function(_ name: String, _ body: String) -> String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)() FROM PUBLIC
        """
    }

    private static func triggerSQL(_ table: String, _ when: String, _ function: String) -> String {
        """
        DROP TRIGGER IF EXISTS \(trigger) ON public.\(table);
        CREATE TRIGGER \(trigger) \(when) ON public.\(table) FOR EACH ROW EXECUTE FUNCTION tombolo.\(function)();
        ALTER TABLE public.\(table) ENABLE ALWAYS TRIGGER \(trigger)
        """
    }

    private static func policy(_ name: String, _ table: String, _ definition: String) -> String {
        """
        DROP POLICY IF EXISTS tombolo_\(name) ON public.\(table);
        CREATE POLICY tombolo_\(name) ON public.\(table) \(definition)
        """
    }
}
