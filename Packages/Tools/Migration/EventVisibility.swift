import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Keeps `is_public` of everything that belongs to an event equal to whether the event is published, public and not
/// in the trash, whoever writes: rules look at one row only, so that the row has to say it.
///
/// A row takes a share lock on its event while it is written, so that publishing an event and adding to it at the
/// same time happen one after the other.
enum EventVisibility {
    private static let rowFunction = "keep_public"
    private static let eventFunction = "publish_event"
    private static let trigger = "tombolo_public"

    /// What `is_public` has to be for an event `e`.
    private static let condition =
        "e.state = '\(EventState.published.rawValue)' AND e.privacy = '\(EventPrivacy.public.rawValue)' "
        + "AND e.trashed_at IS NULL"

    private static let rowBody = """

        DECLARE
            v_public boolean;
        BEGIN
            SELECT \(condition) INTO v_public FROM public.event e WHERE e._id = NEW.event FOR SHARE;
            NEW.is_public := coalesce(v_public, false);
            RETURN NEW;
        END
        """

    private static var eventBody: String {
        let updates = tables.map { table in
            """
                UPDATE public.\(PostgresSQL.quoteIdentifier(table)) c SET is_public = v_public
                    WHERE c.event = NEW._id AND c.is_public <> v_public;
            """
        }.joined(separator: "\n")
        return """

            DECLARE
                v_public boolean;
            BEGIN
                SELECT \(condition) INTO v_public FROM public.event e WHERE e._id = NEW._id;
            \(updates)
                RETURN NULL;
            END
            """
    }

    /// Tables of classes that say whether they are public and belong to an event.
    private static var tables: [String] {
        EventModels.schema.classes.filter { item in
            item.columnIndex("isPublic") != nil && item.columnIndex("event") != nil
        }.map(\.table)
    }

    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let missing = tables.filter { !live.triggers.contains("\($0).\(trigger)") }
        let isCurrent = live.functions[rowFunction] == rowBody && live.functions[eventFunction] == eventBody
        guard !missing.isEmpty || !isCurrent || !live.triggers.contains("event.\(trigger)") else { return [] }
        var statements = [function(rowFunction, rowBody), function(eventFunction, eventBody)]
        for table in tables {
            statements.append(
                triggerSQL(table, "BEFORE INSERT OR UPDATE OF event, is_public", rowFunction))
        }
        statements.append(triggerSQL("event", "AFTER UPDATE OF state, privacy, trashed_at", eventFunction))
        for table in tables {
            statements.append(
                """
                UPDATE public.\(PostgresSQL.quoteIdentifier(table)) c SET is_public = NOT c.is_public
                WHERE c.is_public <> EXISTS (SELECT 1 FROM public.event e WHERE e._id = c.event AND \(condition))
                """)
        }
        return [SchemaStep(name: "visibility of events", sql: statements.joined(separator: ";\n"))]
    }

    private static func function(_ name: String, _ body: String) -> String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)() FROM PUBLIC
        """
    }

    private static func triggerSQL(_ table: String, _ when: String, _ function: String) -> String {
        let table = "public.\(PostgresSQL.quoteIdentifier(table))"
        return """
            DROP TRIGGER IF EXISTS \(trigger) ON \(table);
            CREATE TRIGGER \(trigger) \(when) ON \(table) FOR EACH ROW EXECUTE FUNCTION tombolo.\(function)();
            ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger)
            """
    }
}
