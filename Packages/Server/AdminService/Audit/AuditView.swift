import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRules
import TomboloSQL
import TomboloLocalization

/// What one caller may see of the audit log: which classes, which objects, and which properties.
struct AuditView: Sendable {
    /// A class, with its numbers in the log.
    struct Class: Sendable {
        let index: Int
        let item: ClassSchema
        let number: Int16
        /// The columns that the caller may see, by their numbers in the log.
        let columns: [String: Int]
        /// Numbers of the columns that the caller may not see, including those of properties that the model no longer
        /// has.
        let hidden: [String]
        /// Whether the caller may see why objects went into the trash. That's all or nothing: it takes the right to
        /// see everything in the trash.
        let seesTrashReasons: Bool
        /// Numbers of the visible columns with text.
        let texts: [String]
        /// The class whose objects have the list. For a class that isn't a list's, the class itself.
        let root: ClassSchema
        let filter: TomboloModel.Predicate
    }

    let schema: Schema
    let classes: [Class]
    /// Whether the caller also sees entries that aren't about objects: accounts, settings, models, rules, and where
    /// the log begins.
    let seesAll: Bool

    /// - Parameters:
    ///   - grant: the caller's grant for the operation `audit`.
    ///   - seesAll: whether the caller is a super administrator, who sees entries that aren't about objects even if
    ///     some app's rules permit `audit` to nobody.
    static func read(
        _ grant: ClassesGrant, seesAll: Bool = false, _ connection: PostgresConnection
    ) async throws -> AuditView {
        let schema = grant.rules.schema
        let hidden = grant.rules.hiddenColumns(grant.subject)
        let access = grant.rules.access(of: grant.subject)
        var numbers: [String: Int16] = [:]
        var columns: [String: [(name: String, number: String)]] = [:]
        let rows = try await connection.query(
            """
            SELECT c.name, c.id::bigint, k.name, k.id::text FROM tombolo.class c \
            JOIN tombolo.class_column k ON k.class = c.id ORDER BY c.id, k.id
            """)
        for row in rows {
            let name = try row[0].string
            numbers[name] = Int16(truncatingIfNeeded: try row[1].int64)
            columns[name, default: []].append((try row[2].string, try row[3].string))
        }
        var classes: [Class] = []
        for (index, item) in schema.classes.enumerated() {
            let root = schema[schema.rootClassIndex(of: index)]
            guard let number = numbers[item.name], item.primaryKeyIndex != nil, let filter = grant.filters[root.name]
            else { continue }
            // Lists that the caller may not read are hidden, like properties.
            if item.owner != nil, case .constant(false) = access.readable(index) { continue }
            var visible: [String: Int] = [:]
            var secret: [String] = []
            var texts: [String] = []
            for (name, number) in columns[item.name] ?? [] {
                guard let column = item.columnIndex(name), hidden[index]?.contains(column) != true else {
                    secret.append(number)
                    continue
                }
                visible[number] = column
                if case .string = schema.storedType(of: item.columns[column]) { texts.append(number) }
            }
            let listing = grant.rules.authorize(grant.subject, .listTrash, .objects(classIndex: index))
            let seesTrashReasons: Bool = if case .allowed(.constant(true)) = listing { true } else { false }
            if item.isTrashable, !seesTrashReasons { secret.append(LoggedValue.trashReasonColumn) }
            classes.append(
                Class(
                    index: index, item: item, number: number, columns: visible, hidden: secret,
                    seesTrashReasons: seesTrashReasons, texts: texts, root: root, filter: filter))
        }
        let seesEveryObject = schema.classes.allSatisfy { item in
            guard item.owner == nil, item.primaryKeyIndex != nil else { return true }
            guard case .constant(true)? = grant.filters[item.name] else { return false }
            return true
        }
        return AuditView(schema: schema, classes: classes, seesAll: seesAll || seesEveryObject)
    }

    /// The classes that a filter names, with their lists.
    /// - Throws: ``RequestFailure`` with status 400 for a class that doesn't exist, and 403 for one that isn't
    ///   permitted.
    func classes(named name: String?) throws -> [Class] {
        guard let name else { return classes }
        let known = schema.classes.filter { $0.owner == nil && $0.primaryKeyIndex != nil }
        guard let item = known.first(where: { $0.name == name || $0.previousNames.contains(name) }) else {
            let names = known.map(\.name).joined(separator: ", ")
            throw RequestFailure(
                .badRequest, localized("There is no such class."),
                hint: localized("Choose one of \(names)."))
        }
        let found = classes.filter { $0.root.name == item.name }
        guard !found.isEmpty else { throw Self.refusal(item.name) }
        return found
    }

    static func refusal(_ className: String) -> RequestFailure {
        RequestFailure(.forbidden, localized("Not permitted to see the audit log of \(className)."))
    }
}
