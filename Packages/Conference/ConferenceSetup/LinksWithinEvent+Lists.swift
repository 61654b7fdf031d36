import EventModels
import PostgresClient
import TomboloModel

/// List elements are rows of their own tables, and belong to the event of the object that has the list.
extension LinksWithinEvent {
    /// - Parameter owner: the class that has the list.
    static func ofElements(_ item: ClassSchema, of owner: ClassSchema) -> Check? {
        let links = listLinks(of: item)
        guard belongsToEvent(owner), !links.isEmpty else { return nil }
        let ownerColumn = item.columns[ElementColumn.owner].sqlName
        let checks = links.map { link in
            """

                SELECT o.event, l.event INTO v_own, v_event
                FROM \(PostgresSQL.quoteIdentifier("public", owner.table)) o, \(link.target) l
                WHERE o._id = NEW.\(PostgresSQL.quoteIdentifier(ownerColumn))
                    AND l._id = NEW.\(PostgresSQL.quoteIdentifier(link.column));
                IF FOUND AND v_event IS DISTINCT FROM v_own THEN
                    \(refusal(link))
                END IF;
            """
        }
        return Check(
            table: item.table, columns: [ownerColumn] + links.map(\.column),
            body: """

                DECLARE
                    v_own bytea;
                    v_event bytea;
                BEGIN\(checks.joined())
                    RETURN NEW;
                END
                """)
    }

    /// SQL for the trigger function of the class that has the list: when an object moves to another event, its
    /// elements must not link back to the old one.
    static func whenOwnerMoves(_ item: ClassSchema) -> String {
        let owner = PostgresSQL.quoteIdentifier("e", item.columns[ElementColumn.owner].sqlName)
        return listLinks(of: item).map { link in
            let refusal = ConferenceFunction.refusal(
                constraint, "the list has a \(link.words) of another event", at: "'event'",
                hint: "Take it out of the list first.")
            return """

                    IF TG_OP = 'UPDATE' THEN
                        IF NEW.event IS DISTINCT FROM OLD.event AND EXISTS (
                            SELECT FROM \(PostgresSQL.quoteIdentifier("public", item.table)) e
                            JOIN \(link.target) l ON l._id = \(PostgresSQL.quoteIdentifier("e", link.column))
                            WHERE \(owner) = NEW._id AND l.event IS DISTINCT FROM NEW.event) THEN
                            \(refusal)
                        END IF;
                    END IF;
                """
        }.joined()
    }

    /// The links in an element, named after their target class, since a list's own name is a plural.
    private static func listLinks(of item: ClassSchema) -> [Link] {
        let owner = item.columns[ElementColumn.owner].sqlName
        return links(of: item) { words($0.linkTarget ?? $0.name) }.filter { $0.column != owner }
    }
}
