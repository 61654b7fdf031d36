import EventModels
import TomboloPostgresStore

/// Roles that somebody must always have. The database enforces this, whether a server, a device, a tool or plain SQL
/// writes.
///
/// - At least one super administrator can log in. The last one can't be demoted, disabled, deleted or moved into the
///   trash, not even by two administrators who do it to each other at the same time.
/// - An event has at most one owner, and an event that has an owner keeps one. The owner's row may be transferred to
///   another user, and is deleted with its event. When a user is permanently deleted, their past events are left
///   without an owner.
/// - Nobody gets a role in an event that is in the trash.
///
/// The errors name a constraint, so that only this write of a device is refused and its other writes are kept.
enum LastingRoles {
    static let lastSuperAdministrator = "the_last_super_administrator_stays"
    static let keptOwner = "an_event_keeps_its_owner"
    /// The name of a unique index.
    static let oneOwner = "an_event_has_one_owner"
    static let noRolesInTheTrash = "no_new_roles_in_the_trash"

    private static let superAdmin = "'\(RoleName.superAdmin.rawValue)'"
    private static let owner = "'\(RoleName.owner.rawValue)'"
    private static let organizer = "'\(RoleName.organizer.rawValue)'"

    private static func refusal(_ constraint: String, _ message: String, hint: String) -> String {
        """
        RAISE EXCEPTION '\(message)' USING ERRCODE = 'check_violation', CONSTRAINT = '\(constraint)',
                        SCHEMA = 'public', TABLE = '\(Conference.assignmentsTable)', HINT = '\(hint)';
        """
    }

    private static let ownerStays = refusal(
        keptOwner, "An event keeps its owner.", hint: "Transfer it to somebody else.")

    // MARK: Super administrators

    /// An advisory lock serializes these checks, so the second sees what the first did. The rows that count are
    /// locked, so that a transaction with an older snapshot fails instead of counting rows that are gone. A row that
    /// another transaction is about to change doesn't count.
    private static let anotherStays = """
        PERFORM pg_advisory_xact_lock(hashtextextended('\(lastSuperAdministrator)', 0));
                PERFORM 1 FROM \(Conference.assignments) a JOIN \(Conference.users) u ON u._id = a."user"
                    JOIN tombolo.account c ON c.id = a."user"
                WHERE a.role = \(superAdmin) AND a.event IS NULL AND u.trashed_at IS NULL AND c.disabled_at IS NULL
                LIMIT 1 FOR SHARE OF a, c SKIP LOCKED;
                IF NOT FOUND THEN
                    \(refusal(
                        lastSuperAdministrator, "The last super administrator stays.",
                        hint: "Make somebody else a super administrator first."))
                END IF;
        """

    private static let assignmentFunction = ConferenceFunction(
        name: "keep_super_administrator",
        body: """

            BEGIN
                IF OLD.role <> \(superAdmin) OR OLD.event IS NOT NULL OR OLD."user" IS NULL THEN
                    RETURN NULL;
                END IF;
                IF TG_OP = 'UPDATE' THEN
                    IF NEW.role = OLD.role AND NEW.event IS NULL AND NEW."user" = OLD."user" THEN
                        RETURN NULL;
                    END IF;
                END IF;
                \(anotherStays)
                RETURN NULL;
            END
            """)

    /// Handles everything that disables an account, including moving its user into the trash.
    private static let accountFunction = ConferenceFunction(
        name: "keep_super_administrator_enabled",
        body: """

            BEGIN
                IF NEW.disabled_at IS NULL OR OLD.disabled_at IS NOT NULL THEN
                    RETURN NULL;
                END IF;
                PERFORM 1 FROM \(Conference.assignments) a
                WHERE a."user" = NEW.id AND a.role = \(superAdmin) AND a.event IS NULL;
                IF NOT FOUND THEN
                    RETURN NULL;
                END IF;
                \(anotherStays)
                RETURN NULL;
            END
            """)

    // MARK: Owners

    private static let ownerFunction = ConferenceFunction(
        name: "keep_owner",
        body: """

            BEGIN
                IF OLD.role <> \(owner) OR OLD.event IS NULL OR OLD."user" IS NULL THEN
                    RETURN NULL;
                END IF;
                IF TG_OP = 'UPDATE' THEN
                    IF NEW.role = OLD.role AND NEW.event = OLD.event AND (NEW."user" IS NOT NULL
                        OR NOT EXISTS (SELECT 1 FROM \(Conference.users) u WHERE u._id = OLD."user")) THEN
                        RETURN NULL;
                    END IF;
                END IF;
                IF EXISTS (SELECT 1 FROM public.event e WHERE e._id = OLD.event) AND NOT EXISTS (
                    SELECT 1 FROM \(Conference.assignments) a
                    WHERE a.event = OLD.event AND a.role = \(owner) AND a."user" IS NOT NULL
                ) THEN
                    \(ownerStays)
                END IF;
                RETURN NULL;
            END
            """)

    /// Users in the trash may be purged: `tombolo.keep_users_in_trash` keeps those with a future event.
    private static let userFunction = ConferenceFunction(
        name: "keep_owning_user",
        body: """

            BEGIN
                IF OLD.trashed_at IS NULL AND EXISTS (
                    SELECT 1 FROM \(Conference.assignments) a JOIN public.event e ON e._id = a.event
                    WHERE a."user" = OLD._id AND a.role = \(owner) AND e.trashed_at IS NULL AND e.ends_at > now()
                ) THEN
                    \(ownerStays)
                END IF;
                RETURN OLD;
            END
            """)

    // MARK: The trash

    /// The lock serializes this with moving the event into the trash.
    private static let trashFunction = ConferenceFunction(
        name: "keep_roles_out_of_trash",
        body: """

            DECLARE
                v_trashed boolean;
            BEGIN
                IF NEW.event IS NULL OR NEW."user" IS NULL THEN
                    RETURN NEW;
                END IF;
                SELECT e.trashed_at IS NOT NULL INTO v_trashed FROM public.event e WHERE e._id = NEW.event FOR SHARE;
                IF v_trashed THEN
                    \(refusal(
                        noRolesInTheTrash, "The event is in the trash.", hint: "Restore it first."))
                END IF;
                RETURN NEW;
            END
            """)

    // MARK: Schema steps

    private static let functions = [
        assignmentFunction, accountFunction, ownerFunction, userFunction, trashFunction,
    ]

    /// Names as `table.trigger`.
    private static let triggers: Set<String> = [
        "\(Conference.assignmentsTable).tombolo_keep_super_admin", "\(Conference.assignmentsTable).tombolo_keep_owner",
        "\(Conference.assignmentsTable).tombolo_no_roles_in_trash", "\(Conference.usersTable).tombolo_keep_owner",
    ]

    /// If an event has several owners, the one created first stays and the others become organizers.
    private static let oneOwnerEach = """
        UPDATE \(Conference.assignments) a SET role = \(organizer)
        WHERE a.role = \(owner) AND a.event IS NOT NULL AND EXISTS (
                SELECT 1 FROM \(Conference.assignments) b WHERE b.event = a.event AND b.role = \(owner)
                    AND b."user" IS NOT NULL AND b._id < a._id)
            AND NOT EXISTS (SELECT 1 FROM \(Conference.assignments) o
                WHERE o.event = a.event AND o."user" = a."user" AND o.role = \(organizer));
        DELETE FROM \(Conference.assignments) a
        WHERE a.role = \(owner) AND a.event IS NOT NULL AND EXISTS (
            SELECT 1 FROM \(Conference.assignments) b WHERE b.event = a.event AND b.role = \(owner)
                AND b."user" IS NOT NULL AND b._id < a._id);
        CREATE UNIQUE INDEX \(oneOwner) ON \(Conference.assignments) (event)
            WHERE role = \(owner) AND event IS NOT NULL AND "user" IS NOT NULL
        """

    /// The steps that are still missing.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let hasIndex = live.indexes.contains(oneOwner)
        let isCurrent =
            live.triggers.isSuperset(of: triggers) && functions.allSatisfy { live.functions[$0.name] == $0.body }
        guard !hasIndex || !isCurrent else { return [] }
        let columns = #""user", role, event"#
        var statements = hasIndex ? [] : [oneOwnerEach]
        statements += functions.map(\.sql)
        statements += [
            assignmentFunction.trigger(
                "tombolo_keep_super_admin", "AFTER UPDATE OF \(columns) OR DELETE", on: Conference.assignments),
            ownerFunction.trigger(
                "tombolo_keep_owner", "AFTER UPDATE OF \(columns) OR DELETE", on: Conference.assignments),
            trashFunction.trigger(
                "tombolo_no_roles_in_trash", "BEFORE INSERT OR UPDATE OF \(columns)", on: Conference.assignments),
            userFunction.trigger("tombolo_keep_owner", "BEFORE DELETE", on: Conference.users),
            accountFunction.trigger("tombolo_keep_super_admin", "AFTER UPDATE OF disabled_at", on: "tombolo.account"),
        ]
        return [SchemaStep(name: "roles that somebody keeps", sql: statements.joined(separator: ";\n"))]
    }
}
