import AdminService
import TomboloLocalization
import TomboloModel

/// The values for the template `model_change`: the texts, small forms that edit them, and any problems.
struct ModelChangeContent: Sendable {
    struct Option: Sendable {
        let value: String
        let title: String
        let isChosen: Bool
    }

    let path: String
    let basis: String
    let models: String
    let rules: String
    let notice: String?
    let message: String?
    let hint: String?
    let problems: [String]
    let comparisons: [String]
    let wish: ModelWish
    let isAddingClass: Bool
    let isAddingProperty: Bool
    let isRenaming: Bool
    let isDropping: Bool
    let classes: [Option]
    let types: [Option]
    let renamable: [Option]
    let droppable: [Option]

    /// - Parameters:
    ///   - document: the classes and properties that the small forms offer.
    ///   - comparisons: addresses of pages that show what somebody else changed in the meantime.
    init(
        _ form: ModelChangeForm, of app: String, _ document: ModelDocument?, basis: ModelBasis, notice: String? = nil,
        message: String? = nil, hint: String? = nil, problems: [String] = [], comparisons: [String] = []
    ) {
        path = ModelChangePages.path(of: app)
        self.basis = basis.version
        models = form.models
        rules = form.rules
        self.notice = notice
        self.message = message
        self.hint = hint
        self.problems = problems
        self.comparisons = comparisons
        wish = form.wish
        let begun = form.wish.begun
        isAddingClass = begun.contains(.addClass)
        isAddingProperty = begun.contains(.addProperty)
        isRenaming = begun.contains(.rename)
        isDropping = begun.contains(.drop)
        let live = (document?.classes ?? []).filter { !$0.isRetired }
        classes = Self.options(live.map(\.name), chosen: form.wish.propertyClass)
        types = Self.types(live).map {
            Option(value: $0.value, title: $0.title, isChosen: $0.value == form.wish.propertyType)
        }
        let properties = live.map { item in
            (item.name, item.properties.filter { !$0.isRetired && !$0.isPrimaryKey }.map { "\(item.name).\($0.name)" })
        }
        renamable = Self.options(properties.flatMap(\.1), chosen: form.wish.renamed)
        droppable = Self.options(properties.flatMap { [$0] + $1 }, chosen: form.wish.dropped)
    }

    private static func options(_ names: [String], chosen: String) -> [Option] {
        names.map { Option(value: $0, title: $0, isChosen: $0 == chosen) }
    }

    private static var simpleTypes: [(value: String, title: String)] {
        [
            ("string", localized("text")), ("int", localized("whole number")),
            ("double", localized("number with a fraction")), ("decimal128", localized("exact decimal number")),
            ("bool", localized("yes or no")), ("date", localized("date and time")), ("data", localized("bytes")),
            ("objectId", "ObjectId"), ("uuid", "UUID"), ("int32", localized("whole number, 32 bits")),
            ("int16", localized("whole number, 16 bits")), ("int8", localized("whole number, 8 bits")),
            ("float", localized("number with a fraction, 32 bits")),
        ]
    }

    /// The types as documents write them, with a description each.
    private static func types(_ classes: [ModelClass]) -> [(value: String, title: String)] {
        var types = simpleTypes
        types += ["string", "int", "double", "date"].map { ("list<\($0)>", localized("list of \($0)")) }
        for item in classes where !item.isEmbedded {
            types.append(("link<\(item.name)>?", localized("link to \(item.name)")))
            types.append(("list<link<\(item.name)>>", localized("list of links to \(item.name)")))
        }
        for item in classes where item.isEmbedded {
            types.append(("embedded<\(item.name)>?", localized("embedded \(item.name)")))
            types.append(("list<embedded<\(item.name)>>", localized("list of embedded \(item.name)")))
        }
        return types
    }
}
