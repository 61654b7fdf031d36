import Foundation
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Filters a list of the trash by one property: `agent=64ab…` selects the objects whose `agent` has this value and,
/// if that is a link, the object that it points to. Classes without the property are left out, as are classes in
/// which the caller may not read it.
struct TrashFilter {
    /// By class.
    private let conditions: [String: TomboloModel.Predicate]

    /// - Returns: nil if no class with a trash has a property of this name.
    /// - Throws: ``RequestFailure`` with status 400 for text that isn't a value of the property.
    init?(_ property: String, _ text: String, _ rules: Rules, _ subject: Subject) throws {
        let schema = rules.schema
        let classes = Trash.classes(of: schema)
        let hidden = rules.hiddenColumns(subject)
        var conditions: [String: TomboloModel.Predicate] = [:]
        var expected: Set<String> = []
        var isKnown = false
        for item in classes {
            guard let position = item.columnIndex(property), let index = schema.index(of: item.name),
                hidden[index]?.contains(position) != true
            else { continue }
            isKnown = true
            let column = item.columns[position]
            let type = schema.storedType(of: column)
            guard let value = Self.value(text, type) else {
                expected.insert(Self.description(of: type))
                continue
            }
            conditions[item.name] = .compare(PropertyPath(column.name), .equal, value)
            guard let target = column.linkTarget.flatMap({ schema[$0] }), let key = target.primaryKey,
                classes.contains(where: { $0.name == target.name }), target.columnIndex(property) == nil
            else { continue }
            conditions[target.name] = .compare(PropertyPath(key.name), .equal, value)
        }
        guard isKnown else { return nil }
        guard !conditions.isEmpty else {
            throw RequestFailure(
                .badRequest, "The value of '\(property)' doesn't fit the property's type.",
                hint: "Expected \(expected.sorted().joined(separator: " or ")).")
        }
        self.conditions = conditions
    }

    func narrow(_ filters: [String: TomboloModel.Predicate]) -> [String: TomboloModel.Predicate] {
        var result: [String: TomboloModel.Predicate] = [:]
        for (name, filter) in filters {
            if let condition = conditions[name] { result[name] = .and([filter, condition]) }
        }
        return result
    }

    /// Nil for text that isn't a value, and for types that aren't compared with text.
    private static func value(_ text: String, _ type: PropertyType) -> Value? {
        switch type {
        case .objectId: (try? ObjectId(string: text)).map(Value.objectId)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .string: text.utf8.contains(0) ? nil : .string(text)
        case .int: Int64(text).map(Value.int)
        case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        default: nil
        }
    }

    private static func description(of type: PropertyType) -> String {
        switch type {
        case .objectId: "an id of 24 hexadecimal digits"
        case .uuid: "a UUID"
        case .string: "text without U+0000"
        case .int: "a whole number"
        case .bool: "true or false"
        default: "a property of another type: the trash can't be searched by \(type.name)"
        }
    }
}
