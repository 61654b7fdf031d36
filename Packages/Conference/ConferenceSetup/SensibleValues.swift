import EventModels
import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Refuses impossible values from every writer, such as an event that ends before it starts, or a negative price. A
/// newer version of the app may add values to an enumeration (decision 50), but no version can use impossible values.
///
/// It checks only a write's new values. Older rows stay, and can still be changed in other ways and restored; a
/// `CHECK`, even one that isn't validated, would refuse every change to them.
enum SensibleValues {
    static let trigger = "tombolo_sensible"
    static let constraint = "sensible_values"

    private struct Rule {
        let className: String
        /// The properties it compares. A refusal names the first one that the write changes.
        let properties: [String]
        /// An SQL condition for an invalid value, with `%1` and `%2` for the new values of ``properties``.
        let mistake: String
        let message: String
        let hint: String

        static func order(_ className: String, _ end: String, after start: String, _ message: String) -> Rule {
            Rule(
                className: className, properties: [end, start], mistake: "%1 < %2", message: message,
                hint: "Choose a later end, or an earlier start.")
        }

        static func positive(_ className: String, _ property: String, _ name: String) -> Rule {
            Rule(
                className: className, properties: [property], mistake: "%1 < 0", message: "the \(name) is negative",
                hint: "Choose 0 or more.")
        }
    }

    private static let rules: [Rule] = [
        .order("Event", "endsAt", after: "startsAt", "the event ends before it starts"),
        .order("Session", "endsAt", after: "startsAt", "the session ends before it starts"),
        .order("Ticket", "salesEndsAt", after: "salesStartsAt", "the sale ends before it starts"),
        .positive("Ticket", "price", "price"), .positive("Ticket", "quantity", "quantity"),
        .positive("Ticket", "minOrder", "smallest order"), .positive("Ticket", "maxOrder", "largest order"),
        Rule(
            className: "Ticket", properties: ["maxOrder", "minOrder"], mistake: "%1 < %2",
            message: "the smallest order is larger than the largest", hint: "Change one of the two."),
    ]

    /// A trigger's check of a table's rows.
    private struct Check {
        let table: String
        /// As SQL names.
        let columns: [String]
        let function: ConferenceFunction
    }

    private static var checks: [Check] {
        EventModels.schema.classes.compactMap { item in
            let rules = rules.filter { $0.className == item.name }
            guard !rules.isEmpty else { return nil }
            var columns: [String] = []
            let statements = rules.map { rule in
                let names = rule.properties.compactMap { item.columnIndex($0) }.map { item.columns[$0].sqlName }
                columns += names.filter { !columns.contains($0) }
                return statement(rule, names)
            }
            let body = """

                BEGIN\(statements.joined())
                    RETURN NEW;
                END
                """
            return Check(
                table: item.table, columns: columns,
                function: ConferenceFunction(name: "check_\(item.table)_values", body: body))
        }
    }

    /// For a new row, `OLD` is null.
    private static func statement(_ rule: Rule, _ names: [String]) -> String {
        func list(_ record: String) -> String { names.map { "\(record).\($0)" }.joined(separator: ", ") }
        let mistake = names.enumerated().reduce(rule.mistake) { sql, name in
            sql.replacing("%\(name.offset + 1)", with: "NEW.\(name.element)")
        }
        let changed = names.map { "WHEN NEW.\($0) IS DISTINCT FROM OLD.\($0) THEN '\($0)'" }
        let refusal = ConferenceFunction.refusal(
            constraint, rule.message, at: "CASE \(changed.joined(separator: " ")) END", hint: rule.hint)
        return """

                IF \(mistake) AND ROW(\(list("NEW"))) IS DISTINCT FROM ROW(\(list("OLD"))) THEN
                    \(refusal)
                END IF;
            """
    }

    /// The steps that are still missing. Existing rows stay as they are.
    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        let missing = checks.filter { check in
            live.functions[check.function.name] != check.function.body
                || !live.triggers.contains("\(check.table).\(trigger)")
        }
        let statements = missing.flatMap { check in
            [
                check.function.sql,
                check.function.trigger(
                    trigger, "BEFORE INSERT OR UPDATE OF \(check.columns.joined(separator: ", "))",
                    on: PostgresSQL.quoteIdentifier("public", check.table)),
            ]
        }
        return statements.isEmpty
            ? [] : [SchemaStep(name: "sensible values", sql: statements.joined(separator: ";\n"))]
    }
}
