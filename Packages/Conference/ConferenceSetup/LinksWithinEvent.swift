import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Refuses links from one event's objects to another's, no matter who writes, both in columns and in lists. A contact
/// goes into the trash with its speaker. If contacts could belong to another event, they would go along, and
/// thousands of them would keep the speaker's event from being trashed at all. Rules look at only one row, so they
/// can't express this.
///
/// The object with the link is checked when its links or its event change. The target isn't checked, so it may move
/// to another event first: a speaker goes before their contact, and before the sessions that move along. Objects
/// whose event was deleted keep their links.
enum LinksWithinEvent {
    static let trigger = "tombolo_within_event"
    static let constraint = "links_within_event"

    /// A column that links to a class that belongs to an event.
    struct Link {
        /// The column's name in SQL.
        let column: String
        /// The target in words.
        let words: String
        /// The target's table, quoted, with its schema.
        let target: String
    }

    /// A trigger's check of a table's rows.
    struct Check {
        let table: String
        /// The columns whose changes it checks, as SQL names.
        let columns: [String]
        let body: String

        var function: ConferenceFunction { ConferenceFunction(name: "keep_\(table)_within_event", body: body) }
    }

    private static var checks: [Check] {
        let schema = EventModels.schema
        return schema.classes.indices.compactMap { index in
            let item = schema[index]
            if item.owner != nil { return ofElements(item, of: schema[schema.rootClassIndex(of: index)]) }
            return ofObjects(item, lists: schema.elementClassIndexes(of: index).map { schema[$0] })
        }
    }

    private static func ofObjects(_ item: ClassSchema, lists: [ClassSchema]) -> Check? {
        guard belongsToEvent(item) else { return nil }
        let links = links(of: item) { words($0.name) }
        let moves = lists.map { whenOwnerMoves($0) }.joined()
        guard !links.isEmpty || !moves.isEmpty else { return nil }
        let checks = links.map { link in
            let column = "NEW.\(PostgresSQL.quoteIdentifier(link.column))"
            return """

                    IF \(column) IS NOT NULL THEN
                        SELECT l.event INTO v_event FROM \(link.target) l WHERE l._id = \(column);
                        IF FOUND AND v_event IS DISTINCT FROM NEW.event THEN
                            \(refusal(link))
                        END IF;
                    END IF;
                """
        }
        return Check(
            table: item.table, columns: ["event"] + links.map(\.column),
            body: """

                DECLARE
                    v_event bytea;
                BEGIN
                    -- An event that is deleted lets go of all that belonged to it, one table after the other.
                    IF TG_OP = 'UPDATE' AND NEW.event IS NULL THEN
                        IF OLD.event IS NOT NULL AND NOT EXISTS (
                            SELECT FROM public.event e WHERE e._id = OLD.event) THEN
                            RETURN NEW;
                        END IF;
                    END IF;\(checks.joined())\(moves)
                    RETURN NEW;
                END
                """)
    }

    static func refusal(_ link: Link) -> String {
        ConferenceFunction.refusal(
            constraint, "the \(link.words) belongs to another event", at: "'\(link.column)'",
            hint: "Choose one of the same event.")
    }

    // MARK: Classes

    /// - Parameter words: gives the words for a column's target.
    static func links(of item: ClassSchema, words: (Column) -> String) -> [Link] {
        item.columns.compactMap { column in
            guard let target = column.linkTarget.flatMap({ EventModels.schema[$0] }), belongsToEvent(target) else {
                return nil
            }
            return Link(
                column: column.sqlName, words: words(column),
                target: PostgresSQL.quoteIdentifier("public", target.table))
        }
    }

    /// `speakerContact` and `SpeakerContact` → `speaker contact`
    static func words(_ name: String) -> String {
        String(name.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }.trimmingPrefix(" "))
    }

    static func belongsToEvent(_ item: ClassSchema) -> Bool {
        item.columns.contains { $0.name == "event" && $0.linkTarget == "Event" }
    }

    // MARK: Migration

    /// The steps that are still missing. Existing rows stay as they are.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let statements = checks.filter { check in
            live.functions[check.function.name] != check.body || !live.triggers.contains("\(check.table).\(trigger)")
        }.flatMap { check in
            let columns = check.columns.map { PostgresSQL.quoteIdentifier($0) }
            return [
                check.function.sql,
                check.function.trigger(
                    trigger, "BEFORE INSERT OR UPDATE OF \(columns.joined(separator: ", "))",
                    on: PostgresSQL.quoteIdentifier("public", check.table)),
            ]
        }
        return statements.isEmpty
            ? [] : [SchemaStep(name: "links within events", sql: statements.joined(separator: ";\n"))]
    }
}
