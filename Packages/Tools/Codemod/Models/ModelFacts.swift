/// Decisions about the input's models that are made before any file is rewritten, because other files depend on them.
struct ModelFacts {
    struct Planned {
        let property: PropertyDeclaration
        let plan: PropertyPlan
    }

    let index: ModelIndex
    /// By model class, in source order.
    private(set) var plans: [TypeID: [Planned]] = [:]
    /// Models whose `ignoredProperties()` can't be read. Nothing in them is rewritten.
    private(set) var unreadable: Set<TypeID> = []
    /// The names of all stored properties.
    private(set) var propertyNames: Set<String> = []
    /// Properties whose type was NSDate, NSData or NSString, with their new type.
    private(set) var bridged: [String: String] = [:]
    /// Properties that were a RealmOptional or RealmProperty, with their classes.
    private(set) var boxes: [String: Set<TypeID>] = [:]
    /// Names of boxes that other properties share, so that `x.name.value` may refer to either.
    private(set) var sharedBoxNames: Set<String> = []
    /// Enumerations that are stored.
    private(set) var enumerations: Set<TypeID> = []
    /// Enumerations that get their conformance from an extension.
    private(set) var conforming: Set<TypeID> = []

    static let bridges = ["NSDate": "Date", "NSData": "Data", "NSString": "String"]

    /// Types without a member called `value`.
    static let scalars: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double", "String", "Data", "Date", "UUID",
        "ObjectId", "Decimal128",
    ]

    init(_ index: ModelIndex) {
        self.index = index
        let models = index.models.keys.sorted { ($0.file, $0.type) < ($1.file, $1.type) }
        for id in models { plan(id) }
        noteOtherProperties()
        noteExtensions()
    }

    private mutating func plan(_ id: TypeID) {
        guard let file = index.files[id.file], let type = index[id] else { return }
        let source = file.source
        guard let ignored = ignored(id) else {
            unreadable.insert(id)
            return
        }
        let index = index
        let planner = PropertyPlanner(
            source: source, ignored: ignored,
            hasObjCMembers: index.ancestry(of: id).contains {
                index[$0]?.head.attribute("objcMembers") != nil
            },
            isDeclared: { index.resolve($0, in: type.path, file: id.file) != .unknown })
        plans[id] = file.properties(id.type).map { property in
            let plan = planner.plan(property)
            note(property, plan, source, type, id)
            return Planned(property: property, plan: plan)
        }
    }

    private mutating func note(
        _ property: PropertyDeclaration, _ plan: PropertyPlan, _ source: SourceText, _ type: TypeDeclaration,
        _ id: TypeID
    ) {
        switch plan {
        case .keep:
            guard property.head.attribute("Persisted") != nil else { return }
        case .left, .plain: return
        case .box: boxes[property.name, default: []].insert(id)
        case .persisted, .collection, .linking: break
        }
        propertyNames.insert(property.name)
        noteEnumerations(property, source, type, id)
        guard case .persisted = plan else { return }
        let typeName = (property.type ?? property.value).flatMap { source.name($0.lowerBound) }
        if let typeName, let bridge = Self.bridges[typeName] { bridged[property.name] = bridge }
    }

    private mutating func noteEnumerations(
        _ property: PropertyDeclaration, _ source: SourceText, _ type: TypeDeclaration, _ id: TypeID
    ) {
        for name in names(property, source) {
            guard let found = index.enumeration(name, in: type.path, file: id.file) else { continue }
            enumerations.insert(found)
        }
    }

    /// The dotted names of types in a property's annotation, or in the value that its type is inferred from.
    private func names(_ property: PropertyDeclaration, _ source: SourceText) -> [String] {
        var names: [String] = []
        func collect(_ range: Range<Int>) {
            var token = range.lowerBound
            while token < range.upperBound {
                guard var name = source.name(token) else {
                    token += 1
                    continue
                }
                token += 1
                while token + 1 < range.upperBound, source.isToken(token, "."), let part = source.name(token + 1) {
                    name += "." + part
                    token += 2
                }
                names.append(name)
            }
        }
        if let type = property.type {
            collect(type)
        } else if let value = property.value {
            if let call = CollectionCall(source, value) {
                if let element = call.element { collect(element) }
            } else if value.count >= 3, value.allSatisfy({ source.isIdentifier($0) || source.isToken($0, ".") }) {
                // `Kind.first`: everything but the case's name.
                collect(value.lowerBound..<value.upperBound - 2)
            }
        }
        return names
    }

    /// What the class and its superclasses ignore, or nil if that can't be read.
    private func ignored(_ id: TypeID) -> Set<String>? {
        var names: Set<String> = []
        for ancestor in index.ancestry(of: id) {
            guard let file = index.files[ancestor.file] else { continue }
            for function in file.functions(ancestor.type) where function.name == "ignoredProperties" {
                guard let body = function.body, let end = file.source.partner(body),
                    let found = NameList.names(file.source, body + 1..<end)
                else { return nil }
                names.formUnion(found)
            }
        }
        return names
    }

    private mutating func noteOtherProperties() {
        guard !boxes.isEmpty else { return }
        for (number, file) in index.files.enumerated() {
            guard let file else { continue }
            for type in file.types.indices {
                for property in file.properties(type) where boxes[property.name] != nil {
                    let id = TypeID(file: number, type: type)
                    if boxes[property.name]?.contains(id) == true { continue }
                    let typeName = property.type.map { file.source.text($0.lowerBound) }
                    if let typeName, Self.scalars.contains(typeName) { continue }
                    // On a second run, the input is the result of the first.
                    sharedBoxNames.insert(property.name)
                }
            }
        }
    }

    private mutating func noteExtensions() {
        for (number, file) in index.files.enumerated() {
            guard let file else { continue }
            for (type, declaration) in file.types.enumerated()
            where declaration.kind == .extension
                && declaration.inherited.contains(where: { ["PersistableEnum", "RealmEnum"].contains($0.name) })
            {
                if let owner = index.owner(of: TypeID(file: number, type: type)) { conforming.insert(owner) }
            }
        }
    }
}
