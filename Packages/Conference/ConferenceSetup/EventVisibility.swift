import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Keeps `is_public` of everything that belongs to an event equal to whether the event is published, public and not
/// in the trash, regardless of who writes. Rules look at only one row, so the row must have this value itself.
///
/// A write takes a share lock on the row's event, so that publishing an event and adding to it at the same time
/// happen one after the other.
enum EventVisibility {
    private static let trigger = "tombolo_public"

    /// The value of `is_public` for an event `e`.
    private static let condition =
        "e.state = '\(EventState.published.rawValue)' AND e.privacy = '\(EventPrivacy.public.rawValue)' "
        + "AND e.trashed_at IS NULL"

    private static let rowFunction = ConferenceFunction(
        name: "keep_public",
        body: """

            DECLARE
                v_public boolean;
            BEGIN
                SELECT \(condition) INTO v_public FROM public.event e WHERE e._id = NEW.event FOR SHARE;
                NEW.is_public := coalesce(v_public, false);
                RETURN NEW;
            END
            """)

    private static var eventFunction: ConferenceFunction {
        let updates = tables.map { table in
            """
                UPDATE public.\(PostgresSQL.quoteIdentifier(table)) c SET is_public = v_public
                    WHERE c.event = NEW._id AND c.is_public <> v_public;
            """
        }.joined(separator: "\n")
        return ConferenceFunction(
            name: "publish_event",
            body: """

                DECLARE
                    v_public boolean;
                BEGIN
                    SELECT \(condition) INTO v_public FROM public.event e WHERE e._id = NEW._id;
                \(updates)
                    RETURN NULL;
                END
                """)
    }

    /// The tables of classes that belong to an event and have `is_public`.
    private static var tables: [String] {
        EventModels.schema.classes.filter { item in
            item.columnIndex("isPublic") != nil && item.columnIndex("event") != nil
        }.map(\.table)
    }

    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let missing = tables.filter { !live.triggers.contains("\($0).\(trigger)") }
        let functions = [rowFunction, eventFunction]
        let isCurrent = functions.allSatisfy { live.functions[$0.name] == $0.body }
        guard !missing.isEmpty || !isCurrent || !live.triggers.contains("event.\(trigger)") else { return [] }
        var statements = functions.map(\.sql)
        for table in tables {
            statements.append(
                rowFunction.trigger(
                    trigger, "BEFORE INSERT OR UPDATE OF event, is_public",
                    on: PostgresSQL.quoteIdentifier("public", table)))
        }
        statements.append(
            eventFunction.trigger(trigger, "AFTER UPDATE OF state, privacy, trashed_at", on: "public.event"))
        for table in tables {
            statements.append(
                """
                UPDATE public.\(PostgresSQL.quoteIdentifier(table)) c SET is_public = NOT c.is_public
                WHERE c.is_public <> EXISTS (SELECT 1 FROM public.event e WHERE e._id = c.event AND \(condition))
                """)
        }
        return [SchemaStep(name: "visibility of events", sql: statements.joined(separator: ";\n"))]
    }
}
