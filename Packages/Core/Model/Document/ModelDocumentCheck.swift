/// Finds all problems in the classes of a document.
struct ModelDocumentCheck {
    /// The maximum number of problems for which the nearest name is suggested, because finding one compares every candidate.
    static let maximumHintCount = 10
    /// The maximum number of candidates that a wrong name is compared with.
    static let maximumCandidateCount = 200

    /// Sorted by name.
    let classes: [ModelClass]
    private let app: String
    let byName: [String: ModelClass]
    private(set) var problems: [ModelDocumentError.Problem]
    private var hintCount = 0
    /// By class name; filled as sizes are computed.
    var sizes: [String: Size] = [:]

    /// - Parameter problems: problems found while reading the classes.
    init(app: String, classes: [ModelClass], problems: [ModelDocumentError.Problem] = []) {
        self.app = app
        self.classes = classes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        self.problems = problems
        byName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func run() throws(ModelDocumentError) {
        if let problem = ModelName.appProblem(of: app) { report(problem) }
        if classes.count > ModelDocument.maximumClassCount {
            report(
                Wording("There are \(classes.count) classes; the limit is \(ModelDocument.maximumClassCount)."))
        } else {
            for (index, item) in classes.enumerated() {
                if index > 0, classes[index - 1].name == item.name {
                    report(Wording("The class is declared twice."), item)
                }
                check(item)
            }
        }
        if problems.isEmpty { checkSizes() }
        if problems.isEmpty { checkSchema() }
        guard problems.isEmpty else { throw ModelDocumentError(problems: problems) }
    }

    /// Whether no more problems are reported.
    private var isFull: Bool { problems.count >= ModelDocumentError.maximumProblemCount }

    mutating func report(
        _ reason: Wording, _ item: ModelClass? = nil, _ property: ModelProperty? = nil,
        nearest: @autoclosure () -> (name: String, candidates: [String])? = nil
    ) {
        guard !isFull else { return }
        var hint: String?
        if hintCount < Self.maximumHintCount, let nearest = nearest() {
            hintCount += 1
            hint = nearest.name.nearest(in: Array(nearest.candidates.prefix(Self.maximumCandidateCount)))
        }
        problems.append(
            ModelDocumentError.Problem(
                className: item.map { ModelName.shown($0.name) }, property: property.map { ModelName.shown($0.name) },
                reason: reason, hint: hint))
    }

    // MARK: Each class by itself

    private mutating func check(_ item: ModelClass) {
        if let problem = ModelName.problem(of: item.name, isProperty: false) { report(problem, item) }
        if let table = item.table {
            if let problem = ModelName.sqlProblem(of: table) { report(problem, item) }
        } else {
            if item.isTrashable {
                report(Wording("An embedded class can't have a trash: its objects are deleted with their owner."), item)
            }
            if !item.uniqueProperties.isEmpty {
                report(
                    Wording(
                        "An embedded class can't have unique properties: declare them in the classes that contain it."),
                    item)
            }
        }
        if item.properties.count > ModelDocument.maximumPropertyCount {
            let limit = ModelDocument.maximumPropertyCount
            report(Wording("The class has \(item.properties.count) properties; the limit is \(limit)."), item)
            return
        }
        checkPreviousNames(item.previousNames, isProperty: false, item, nil)
        var names: Set<String> = []
        for property in item.properties {
            guard !isFull else { return }
            if !names.insert(property.name).inserted {
                report(Wording("The property is declared twice."), item, property)
            }
            check(property, of: item)
        }
        checkPlace(item)
        checkUnique(item, names)
    }

    private mutating func check(_ property: ModelProperty, of item: ModelClass) {
        if let problem = ModelName.problem(of: property.name, isProperty: true) { report(problem, item, property) }
        if let problem = ModelName.sqlProblem(of: property.column) { report(problem, item, property) }
        checkPreviousNames(property.previousNames, isProperty: true, item, property)
        checkType(property.type, property, of: item)
        if let problem = property.allowedValues?.problem(in: property.type) {
            report(Wording("\"values\": \(problem)"), item, property)
        }
        if let hint = property.hint, !(1...ModelDocument.maximumHintByteCount).contains(hint.utf8.count) {
            report(
                Wording(
                    "A hint must have 1 to \(ModelDocument.maximumHintByteCount) bytes, not \(hint.utf8.count)."), item,
                property)
        }
        if property.isMarkdown, property.type != .string || property.allowedValues != nil {
            report(Wording("Only a 'string' without \"values\" can be Markdown."), item, property)
        }
        if property.coordinate != nil, property.type != .double {
            report(Wording("Only a 'double' can be the latitude or longitude of a \"place\"."), item, property)
        }
        switch property.type {
        case .list, .embedded, .array:
            if property.isPrimaryKey || property.isIndexed || property.isEncrypted {
                report(
                    Wording(
                        "A \(property.type.name) can't be a primary key, indexed or encrypted: only values and links can."
                    ),
                    item, property)
            }
        default:
            if property.isPrimaryKey, item.isEmbedded {
                report(
                    Wording("An embedded class can't have a primary key: its owner identifies its objects."), item,
                    property)
            }
        }
        switch property.type {
        case .embedded where !property.isOptional:
            report(Wording("An embedded object can be nil: write '\(property.type.name)?'."), item, property)
        case .list where property.isOptional, .array where property.isOptional:
            report(Wording("A list is never nil: write '\(property.type.name)'."), item, property)
        default: break
        }
    }

    private mutating func checkType(_ type: PropertyType, _ property: ModelProperty, of item: ModelClass) {
        switch type {
        case .link(let target): checkTarget(target, isEmbedded: false, property, of: item)
        case .embedded(let target): checkTarget(target, isEmbedded: true, property, of: item)
        case .list(let element, let isOptional):
            switch element {
            case .link, .embedded: checkType(element, property, of: item)
            case .list, .array, .linkingObjects:
                report(
                    Wording("A list holds values, links or embedded objects, not '\(element.name)'."), item, property)
            default:
                if item.isEmbedded {
                    report(
                        isOptional
                            ? Wording(
                                "In an embedded class, a list of values is stored in one column: write "
                                    + "'array<\(element.name)>', whose elements can't be nil.")
                            : Wording(
                                "In an embedded class, a list of values is stored in one column: write "
                                    + "'array<\(element.name)>'."),
                        item, property)
                }
            }
        case .array(let types):
            if !item.isEmbedded, case .array = property.type {
                report(Wording("Only embedded classes store lists in one column: write 'list<…>'."), item, property)
            }
            for element in types {
                if case .list = element {
                    report(Wording("'\(element.name)' can't be part of an array."), item, property)
                } else {
                    checkType(element, property, of: item)
                }
            }
        case .int(let bits) where ![8, 16, 32, 64].contains(bits):
            report(Wording("An integer must have 8, 16, 32 or 64 bits, not \(bits)."), item, property)
        case .linkingObjects:
            report(Wording("LinkingObjects are computed on devices and aren't part of a document."), item, property)
        default: break
        }
    }

    private mutating func checkTarget(
        _ target: String, isEmbedded: Bool, _ property: ModelProperty, of item: ModelClass
    ) {
        guard let found = byName[target] else {
            let classes = classes
            return report(
                Wording("The class '\(ModelName.shown(target))' isn't in the document."), item, property,
                nearest: (target, classes.filter { $0.isEmbedded == isEmbedded }.map(\.name)))
        }
        if found.isEmbedded, !isEmbedded {
            report(
                Wording("\(target) is embedded, so nothing can link to it: write 'embedded<\(target)>'."), item,
                property)
        } else if !found.isEmbedded, isEmbedded {
            report(Wording("\(target) isn't an embedded class: write 'link<\(target)>'."), item, property)
        }
    }

    private mutating func checkPreviousNames(
        _ names: [String], isProperty: Bool, _ item: ModelClass, _ property: ModelProperty?
    ) {
        let limit = ModelDocument.maximumPreviousNameCount
        guard names.count <= limit else {
            return report(
                Wording("There are \(names.count) previous names; the limit is \(limit)."), item, property)
        }
        for name in names {
            if let problem = ModelName.problem(of: name, isProperty: isProperty) { report(problem, item, property) }
        }
    }

    /// A class has at most one place, with one latitude and one longitude.
    private mutating func checkPlace(_ item: ModelClass) {
        let found = item.properties.compactMap(\.coordinate)
        guard !found.isEmpty, found.count != 2 || Set(found).count != 2 else { return }
        report(
            Wording(
                "A class with a place needs one property with \"place\": \"latitude\" and one with \"longitude\". Put "
                    + "a second place into an embedded class."), item)
    }

    /// Names with a dot are checked later, when the columns of embedded objects are known.
    private mutating func checkUnique(_ item: ModelClass, _ names: Set<String>) {
        let lists = Set(item.properties.filter { if case .list = $0.type { true } else { false } }.map(\.name))
        for name in Set(item.uniqueProperties.joined()).sorted() where !name.contains(".") {
            if !names.contains(name) {
                report(
                    Wording("\"unique\" names '\(ModelName.shown(name))', which isn't a property."), item,
                    nearest: (name, item.properties.map(\.name)))
            } else if lists.contains(name) {
                report(Wording("\"unique\" names '\(name)', which is a list."), item)
            }
        }
        if item.uniqueProperties.contains(where: \.isEmpty) {
            report(Wording("\"unique\" has an empty group."), item)
        }
    }

    // MARK: The tables

    private mutating func checkSchema() {
        let schema: Schema
        do {
            schema = try ModelSchemaBuilder(classes).schema()
        } catch {
            for problem in error.problems { report(Wording(untranslated: problem)) }
            return
        }
        for problem in schema.nameProblems { report(Wording(untranslated: problem)) }
        for item in classes {
            guard let built = schema[item.name] else { continue }
            for name in Set(item.uniqueProperties.joined()).sorted() where built.columnIndex(name) == nil {
                report(
                    Wording("\"unique\" names '\(ModelName.shown(name))', which isn't a property."), item,
                    nearest: (name, built.columns.map(\.name)))
            }
        }
    }
}
