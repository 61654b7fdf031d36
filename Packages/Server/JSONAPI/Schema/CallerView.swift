import TomboloHTTP
package import TomboloModel
package import TomboloRules

/// What one caller may see: which types, which fields, and which objects.
package struct CallerView: Sendable {
    package let subject: Subject
    package let rules: Rules
    package let types: ResourceTypes
    private let hidden: [Int: Set<Int>]
    private let access: SubjectAccess

    package var schema: Schema { rules.schema }

    /// - Parameter types: of the rules' schema.
    package init(subject: Subject, rules: Rules, types: ResourceTypes) {
        self.subject = subject
        self.rules = rules
        self.types = types
        hidden = rules.hiddenColumns(subject)
        access = rules.access(of: subject)
    }

    /// The objects of a class that the caller may read; false if none.
    package func readable(_ type: ResourceType) -> Predicate { access.readable(type.classIndex) }

    /// Why the caller may not do something to any object of a class; nil if the rules permit it for some.
    package func refusal(_ operation: TomboloRules.Operation, _ type: ResourceType) -> Decision.Denial? {
        rules.refusal(subject, operation, ofClassAt: type.classIndex)
    }

    /// Whether the caller may read a field of the objects that they may read.
    package func isVisible(_ field: ResourceField, of type: ResourceType) -> Bool {
        if let column = field.column { return hidden[type.classIndex]?.contains(column) != true }
        if let elements = field.elements, case .constant(false) = access.readable(elements) {
            // If the class itself is unreadable, nothing is read anyway.
            if case .constant(false) = access.readable(type.classIndex) { return true }
            return false
        }
        return true
    }

    /// The classes whose rows decide what is shown of an object, apart from what is included: its own, its lists', and
    /// those of their links' targets, since objects in the trash aren't shown.
    func shownClassNames(of type: ResourceType) -> Set<String> {
        let own = [type.item] + schema.elementClassIndexes(of: type.classIndex).map { schema[$0] }
        let links = own.flatMap { $0.columns.compactMap(\.linkTarget) }
        return Set(own.map(\.name) + links)
    }

    /// The fields that the caller may read, including those in embedded objects.
    package func fields(of type: ResourceType) -> [ResourceField] { visible(type.fields, of: type) }

    /// The only values that a column can have; nil for any of its type. A column that names roles has those that the
    /// rules list, including added roles, which the model's enumeration doesn't know.
    func allowedValues(of column: Int, in item: ClassSchema) -> AllowedValues? {
        let grants = rules.grantColumns.first { schema[$0.classIndex].name == item.name && $0.roleColumn == column }
        guard let grants else { return item.columns[column].allowedValues }
        return AllowedValues(grants.roles?.map(Value.string))
    }

    private func visible(_ fields: [ResourceField], of type: ResourceType) -> [ResourceField] {
        fields.filter { isVisible($0, of: type) }.map { field in
            if case .value(let column, _) = field.content,
                rules.grantColumns.contains(where: { $0.classIndex == type.classIndex && $0.roleColumn == column })
            {
                return ResourceField(
                    name: field.name, property: field.property, content: field.content, isOptional: field.isOptional,
                    allowedValues: allowedValues(of: column, in: type.item), hint: field.hint)
            }
            guard case .embedded(let column, let inner) = field.content else { return field }
            return ResourceField(
                name: field.name, property: field.property,
                content: .embedded(column: column, fields: visible(inner, of: type)), isOptional: field.isOptional,
                hint: field.hint)
        }
    }
}
