import Foundation
import TomboloLocalization
import TomboloModel

/// A common change of a model, taken from the fields of a small form.
struct ModelWish: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case addClass, addProperty, rename, drop
    }

    /// The button that was pressed; nil for another button.
    var kind: Kind?
    var className = ""
    var isEmbedded = false
    var hasTrash = false
    var propertyClass = ""
    var propertyName = ""
    var propertyType = ""
    var isOptional = false
    var isIndexed = false
    /// One value per line.
    var values = ""
    var hint = ""
    /// `Listing.price`.
    var renamed = ""
    var newName = ""
    /// `Listing` or `Listing.price`.
    var dropped = ""

    /// An empty wish.
    init() {}

    init(_ form: PanelForm) {
        func text(_ name: String) -> String { (form[name] ?? "").trimmingCharacters(in: .whitespacesAndNewlines) }
        kind = form["wish"].flatMap { Kind(rawValue: $0) }
        className = text("className")
        isEmbedded = form["embedded"] != nil
        hasTrash = form["trash"] != nil
        propertyClass = text("propertyClass")
        propertyName = text("propertyName")
        propertyType = text("propertyType")
        isOptional = form["optional"] != nil
        isIndexed = form["indexed"] != nil
        values = ModelBasis.lines(form["values"] ?? "")
        hint = text("hint")
        renamed = text("renamed")
        newName = text("newName")
        dropped = text("dropped")
    }

    /// The small forms that have input.
    var begun: Set<Kind> {
        var kinds: Set<Kind> = []
        if !className.isEmpty { kinds.insert(.addClass) }
        if !propertyName.isEmpty || !hint.isEmpty || !values.isEmpty { kinds.insert(.addProperty) }
        if !newName.isEmpty || !renamed.isEmpty { kinds.insert(.rename) }
        if !dropped.isEmpty { kinds.insert(.drop) }
        return kinds
    }

    /// - Returns: the changed document, and a sentence that says what was done.
    /// - Throws: `ModelDocumentError` for mistakes or missing input.
    func applied(
        _ kind: Kind, to document: ModelDocument
    ) throws(ModelDocumentError) -> (document: ModelDocument, notice: String) {
        switch kind {
        case .addClass:
            return (try document.adding(newClass), localized("The class \(className) was added to the text."))
        case .addProperty:
            guard !propertyClass.isEmpty else { throw Self.missing(localized("Choose the class of the new property.")) }
            try Self.checkProperty(propertyName)
            let property = try newProperty()
            return (
                try document.adding(property, to: propertyClass),
                localized("\(propertyClass).\(propertyName) was added to the text.")
            )
        case .rename:
            let (className, property) = Self.parts(of: renamed)
            guard let property else { throw Self.missing(localized("Choose the property to rename.")) }
            try Self.checkProperty(newName)
            return (
                try document.renaming(property, of: className, to: newName),
                localized("\(renamed) is now called \(newName) in the text. Rules that name it must be changed too.")
            )
        case .drop:
            guard !dropped.isEmpty else { throw Self.missing(localized("Choose what to drop.")) }
            let (className, property) = Self.parts(of: dropped)
            let result =
                if let property { try document.removing(property, of: className) } else {
                    try document.removing(className)
                }
            return (result, localized("\(dropped) was removed from the text. Its values stay in the database."))
        }
    }

    private static func missing(_ message: String) -> ModelDocumentError {
        ModelDocumentError(problems: [.init(message: message)])
    }

    /// Checks that the app's classes, which somebody adapts to the model later, can have a property of this name.
    private static func checkProperty(_ name: String) throws(ModelDocumentError) {
        guard ModelName.objectMembers.contains(name) else { return }
        throw missing(localized("Every object in Swift has a member called '\(name)'. Choose another name."))
    }

    private static func parts(of name: String) -> (className: String, property: String?) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
    }

    // MARK: New classes and properties

    /// Objects are identified by a key of their own, as Realm's are.
    private var newClass: ModelClass {
        guard !isEmbedded else { return ModelClass(name: className, table: nil, properties: []) }
        return ModelClass(
            name: className, table: Column.sqlName(for: className),
            properties: [ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)], isTrashable: hasTrash)
    }

    private func newProperty() throws(ModelDocumentError) -> ModelProperty {
        let text =
            isOptional && !propertyType.hasSuffix("?") && !propertyType.hasPrefix("list<")
            ? "\(propertyType)?" : propertyType
        guard let type = PropertyType.parse(text) else {
            throw Self.missing(localized("Choose the type of the new property."))
        }
        return ModelProperty(
            name: propertyName, type: type.type, isOptional: type.isOptional, isIndexed: isIndexed,
            allowedValues: try allowedValues(type.type), hint: hint.isEmpty ? nil : hint)
    }

    private func allowedValues(_ type: PropertyType) throws(ModelDocumentError) -> AllowedValues? {
        let lines = values.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { return nil }
        let element = if case .list(let element, _) = type { element } else { type }
        let isNumber = if case .int = element { true } else { false }
        let numbers = lines.map { Int64($0) }
        if isNumber, numbers.contains(nil) {
            throw Self.missing(localized("The possible values of a whole number must be whole numbers."))
        }
        let all = isNumber ? numbers.compactMap { $0.map(Value.int) } : lines.map(Value.string)
        guard let allowed = AllowedValues(all) else {
            throw Self.missing(
                localized(
                    "Enter at most \(AllowedValues.maximumCount) different values, each of at most "
                        + "\(AllowedValues.maximumByteCount) bytes."))
        }
        return allowed
    }
}
