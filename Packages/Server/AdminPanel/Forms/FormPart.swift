import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// A field at its place in a record's form: a single control, or an embedded object or list with parts of its own.
struct FormPart: Sendable {
    indirect enum Kind: Sendable {
        case control(FormField)
        /// An embedded object, or an element of a list of them.
        case object([ResourceField], isElement: Bool)
        /// A list element that consists of several unnamed values.
        case tuple([ResourceField])
        /// A list of values, with one or more per element.
        case values([ResourceField])
        /// A list of embedded objects, with the index of the element class.
        case objects(elements: Int, [ResourceField])
        /// A list of links to a class, given by its index.
        case links(target: Int)
    }

    let field: ResourceField
    /// `holds.0.label`
    let path: String
    let title: String
    let kind: Kind
    /// The class that has the columns of an object's members.
    private let item: ClassSchema
    private let view: CallerView

    /// - Parameter item: the class that has the field's column or list.
    /// - Returns: nil for fields that have no control.
    init?(_ field: ResourceField, at path: String, of item: ClassSchema, _ view: CallerView) {
        guard let kind = Self.kind(field, path, item, view) else { return nil }
        self.init(field, path, ClassTitle.words(field.name), kind, item, view)
    }

    private init(
        _ field: ResourceField, _ path: String, _ title: String, _ kind: Kind, _ item: ClassSchema, _ view: CallerView
    ) {
        self.field = field
        self.path = path
        self.title = title
        self.kind = kind
        self.item = item
        self.view = view
    }

    private static func kind(
        _ field: ResourceField, _ path: String, _ item: ClassSchema, _ view: CallerView
    ) -> Kind? {
        func value(_ type: PropertyType, _ column: Int, isOptional: Bool) -> ResourceField {
            ResourceField(
                name: field.name, property: field.property, content: .value(column: column, type: type),
                isOptional: isOptional, allowedValues: field.allowedValues)
        }
        switch field.content {
        case .value, .toOne: return FormField(field, at: path, of: item, view).map(Kind.control)
        case .embedded(_, let inner): return .object(inner, isElement: false)
        case .array(let column, let types):
            let fields = types.map { value($0, column, isOptional: false) }
            return fields.allSatisfy { FormField($0) != nil } ? .values(fields) : nil
        case .values(let elements, _):
            let column = view.schema[elements].columns[ElementColumn.content]
            if let target = column.linkTarget.flatMap({ view.schema.index(of: $0) }), view.types[target] != nil {
                return .links(target: target)
            }
            let element = value(
                view.schema.storedType(of: column), ElementColumn.content, isOptional: column.isOptional)
            return FormField(element) != nil ? .values([element]) : nil
        case .objects(let elements, let inner): return .objects(elements: elements, inner)
        case .toMany(_, let target): return .links(target: target)
        }
    }

    /// The members of an embedded object or of a list element.
    var members: [FormPart] {
        switch kind {
        case .object(let fields, _), .tuple(let fields):
            fields.compactMap { FormPart($0, at: "\(path).\($0.name)", of: item, view) }
        case .control, .values, .objects, .links: []
        }
    }

    var isControl: Bool { if case .control = kind { true } else { false } }

    var isLinks: Bool { if case .links = kind { true } else { false } }

    /// An element of a list; nil for a link, which has no part of its own.
    func element(_ index: Int) -> FormPart? {
        let (path, title) = ("\(path).\(index)", "\(title) \(index + 1)")
        switch kind {
        case .control, .object, .tuple, .links: return nil
        case .values(let fields) where fields.count == 1:
            return FormField(fields[0], at: path, title: title).map {
                FormPart(fields[0], path, title, .control($0), item, view)
            }
        case .values(let fields):
            let parts = fields.enumerated().map { place, field in
                ResourceField(
                    name: "\(place + 1)", property: field.property, content: field.content, isOptional: false,
                    allowedValues: field.allowedValues)
            }
            return FormPart(field, path, title, .tuple(parts), item, view)
        case .objects(let elements, let inner):
            return FormPart(field, path, title, .object(inner, isElement: true), view.schema[elements], view)
        }
    }
}
