import PostgresClient
import TomboloPostgresStore

/// Keeps users, a class that devices sync, and accounts, which log in, in step. Each account has a user with the same
/// id and vice versa, whichever of the two is created, renamed or deleted.
///
/// Logins look up addresses in lower case, so an account's address is stored in lower case, even if the user's isn't.
///
/// An account whose user is in the trash is disabled and gives up its e-mail address, matching the unique index on
/// users. Each trigger writes only differences, so the two don't trigger each other forever.
enum UserAccounts {
    private static let userFunction = ConferenceFunction(
        name: "keep_account",
        body: """

            BEGIN
                IF TG_OP = 'INSERT' THEN
                    INSERT INTO tombolo.account (id, email, display_name, disabled_at)
                    VALUES (NEW._id, CASE WHEN NEW.trashed_at IS NULL THEN lower(btrim(NEW.email)) END, NEW.display_name, NEW.trashed_at)
                    ON CONFLICT (id) DO NOTHING;
                ELSIF TG_OP = 'DELETE' THEN
                    DELETE FROM tombolo.account a WHERE a.id = OLD._id;
                ELSE
                    IF NEW._id <> OLD._id THEN
                        UPDATE tombolo.account a SET id = NEW._id WHERE a.id = OLD._id;
                    END IF;
                    IF NEW.display_name <> OLD.display_name THEN
                        UPDATE tombolo.account a SET display_name = NEW.display_name
                        WHERE a.id = NEW._id AND a.display_name <> NEW.display_name;
                    END IF;
                    IF NEW.trashed_at IS NOT NULL AND OLD.trashed_at IS NULL THEN
                        UPDATE tombolo.account a
                        SET email = NULL, disabled_at = coalesce(a.disabled_at, NEW.trashed_at)
                        WHERE a.id = NEW._id;
                    ELSIF NEW.trashed_at IS NULL AND (OLD.trashed_at IS NOT NULL OR NEW.email <> OLD.email) THEN
                        -- Whom somebody disabled before the trash stays disabled after it.
                        UPDATE tombolo.account a
                        SET email = lower(btrim(NEW.email)), disabled_at = nullif(a.disabled_at, OLD.trashed_at)
                        WHERE a.id = NEW._id
                            AND (a.email IS DISTINCT FROM lower(btrim(NEW.email)) OR OLD.trashed_at IS NOT NULL);
                    END IF;
                END IF;
                RETURN NULL;
            END
            """)

    private static let accountFunction = ConferenceFunction(
        name: "keep_user",
        body: """

            BEGIN
                IF TG_OP = 'INSERT' THEN
                    INSERT INTO \(Conference.users) (_id, email, display_name)
                    VALUES (NEW.id, coalesce(NEW.email, \(placeholder("NEW.id"))), NEW.display_name)
                    ON CONFLICT (_id) DO NOTHING;
                ELSIF TG_OP = 'DELETE' THEN
                    DELETE FROM \(Conference.users) u WHERE u._id = OLD.id;
                ELSE
                    UPDATE \(Conference.users) u
                    SET _id = NEW.id, email = coalesce(NEW.email, u.email), display_name = NEW.display_name
                    WHERE u._id = OLD.id AND (u._id, u.email, u.display_name)
                        IS DISTINCT FROM (NEW.id, coalesce(NEW.email, u.email), NEW.display_name);
                END IF;
                RETURN NULL;
            END
            """)

    /// Users need an address. For an account without one, this makes up an address that nobody can have (RFC 2606,
    /// section 2).
    private static func placeholder(_ id: String) -> String { "encode(\(id), 'hex') || '@account.invalid'" }

    static let functions = [userFunction, accountFunction]
    static let trigger = "tombolo_account"

    /// The steps that are still missing. A database from before there were accounts is converted; passwords and
    /// tokens stay valid.
    static func steps(_ live: PostgresCatalog, _ connection: PostgresConnection) async throws -> [SchemaStep] {
        let isCurrent =
            functions.allSatisfy { live.functions[$0.name] == $0.body }
            && live.triggers.contains("\(Conference.usersTable).\(trigger)")
        let oldKeys = try await connection.query(
            """
            SELECT r.relname::text, k.conname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid
            WHERE k.contype = 'f' AND k.connamespace = to_regnamespace('tombolo')
                AND k.confrelid = to_regclass($1) ORDER BY 1, 2
            """, [.text(Conference.users)])
        guard !isCurrent || !oldKeys.isEmpty else { return [] }
        var statements = functions.map(\.sql)
        statements.append(both)
        for row in oldKeys {
            let table = PostgresSQL.quoteIdentifier("tombolo", try row[0].string)
            let name = PostgresSQL.quoteIdentifier(try row[1].string)
            statements.append(
                """
                ALTER TABLE \(table) DROP CONSTRAINT \(name);
                ALTER TABLE \(table) ADD CONSTRAINT \(name) FOREIGN KEY (user_id)
                    REFERENCES tombolo.account (id) ON DELETE CASCADE
                """)
        }
        statements.append(
            userFunction.trigger(
                trigger, "AFTER INSERT OR DELETE OR UPDATE OF _id, email, display_name, trashed_at",
                on: Conference.users))
        statements.append(
            accountFunction.trigger(
                "tombolo_user", "AFTER INSERT OR DELETE OR UPDATE OF id, email, display_name", on: "tombolo.account"))
        return [SchemaStep(name: "accounts of users", sql: statements.joined(separator: ";\n"))]
    }

    /// Creates accounts for users without one, and users for accounts without one.
    private static let both = """
        INSERT INTO tombolo.account (id, email, display_name, disabled_at)
        SELECT u._id, CASE WHEN u.trashed_at IS NULL THEN lower(btrim(u.email)) END, u.display_name, u.trashed_at
        FROM \(Conference.users) u ON CONFLICT (id) DO NOTHING;
        INSERT INTO \(Conference.users) (_id, email, display_name)
        SELECT a.id, coalesce(a.email, \(placeholder("a.id"))), a.display_name
        FROM tombolo.account a ON CONFLICT (_id) DO NOTHING
        """
}
