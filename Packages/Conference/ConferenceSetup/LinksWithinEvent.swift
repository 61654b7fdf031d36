import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Refuses links from one event's objects to another's, no matter who writes. A contact goes into the trash with its
/// speaker: a contact of another event would go along, and thousands of them would keep the speaker's event from being
/// trashed at all. Rules look at one row only, so they can't say this.
enum LinksWithinEvent {
    static let trigger = "tombolo_within_event"
    static let constraint = "links_within_event"

    private struct Link {
        let column: String
        /// The property's name as people write it.
        let words: String
        /// Quoted, with its schema.
        let target: String
    }

    /// The links of each class that belongs to an event to others that do, by its table.
    private static var links: [(table: String, links: [Link])] {
        EventModels.schema.classes.compactMap { item in
            guard belongsToEvent(item) else { return nil }
            let links = item.columns.compactMap { column -> Link? in
                guard let target = column.linkTarget.flatMap({ EventModels.schema[$0] }), belongsToEvent(target) else {
                    return nil
                }
                return Link(
                    column: column.sqlName, words: words(column.name),
                    target: PostgresSQL.quoteIdentifier("public", target.table))
            }
            return links.isEmpty ? nil : (item.table, links)
        }
    }

    /// `speakerContact` → `speaker contact`
    private static func words(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
    }

    private static func belongsToEvent(_ item: ClassSchema) -> Bool {
        item.columns.contains { $0.name == "event" && $0.linkTarget == "Event" }
    }

    private static func function(_ table: String, _ links: [Link]) -> ConferenceFunction {
        let checks = links.map { link in
            """
                IF NEW.\(PostgresSQL.quoteIdentifier(link.column)) IS NOT NULL THEN
                    SELECT l.event INTO v_event FROM \(link.target) l
                        WHERE l._id = NEW.\(PostgresSQL.quoteIdentifier(link.column));
                    IF FOUND AND v_event IS DISTINCT FROM NEW.event THEN
                        RAISE EXCEPTION 'the \(link.words) belongs to another event'
                            USING ERRCODE = 'check_violation', CONSTRAINT = '\(constraint)', SCHEMA = TG_TABLE_SCHEMA,
                                TABLE = TG_TABLE_NAME, COLUMN = '\(link.column)',
                                HINT = 'Choose one of the same event.';
                    END IF;
                END IF;
            """
        }.joined(separator: "\n")
        return ConferenceFunction(
            name: "keep_\(table)_within_event",
            body: """

                DECLARE
                    v_event bytea;
                BEGIN
                \(checks)
                    RETURN NEW;
                END
                """)
    }

    /// What is missing. Rows that are there already stay as they are.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        var statements: [String] = []
        for (table, links) in links {
            let function = function(table, links)
            guard live.functions[function.name] != function.body || !live.triggers.contains("\(table).\(trigger)")
            else {
                continue
            }
            let columns = (["event"] + links.map(\.column)).map { PostgresSQL.quoteIdentifier($0) }
            statements.append(function.sql)
            statements.append(
                function.trigger(
                    trigger, "BEFORE INSERT OR UPDATE OF \(columns.joined(separator: ", "))",
                    on: PostgresSQL.quoteIdentifier("public", table)))
        }
        guard !statements.isEmpty else { return [] }
        return [SchemaStep(name: "links within events", sql: statements.joined(separator: ";\n"))]
    }
}
