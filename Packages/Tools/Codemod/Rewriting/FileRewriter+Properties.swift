extension FileRewriter {
    mutating func rewriteProperty(_ planned: ModelFacts.Planned, of type: TypeDeclaration) {
        let property = planned.property
        switch planned.plan {
        case .keep: reportUnsupportedWrapper(property)
        case .left(let message, let advice): report(.warning, at: property.nameToken, message, advice)
        case .plain:
            removeObjC(property.head)
            counts.properties += 1
        case .persisted:
            persist(property)
            split(property)
            bridge(property)
            reportType(property, in: type)
            reportNaN(property)
            counts.properties += 1
        case .collection(let typeText, let dropsValue):
            persist(property)
            makeVariable(property)
            if dropsValue { replaceFromName(property, with: ": \(typeText)") }
            counts.properties += 1
        case .box(let typeText, let value):
            persist(property)
            makeVariable(property)
            replaceFromName(property, with: ": \(typeText)" + (value.map { " = \($0)" } ?? ""))
            counts.properties += 1
        case .linking(let element, let origin):
            persist(property, arguments: "(originProperty: \"\(origin)\")")
            makeVariable(property)
            replaceFromName(property, with: ": LinkingObjects<\(element)>")
            counts.properties += 1
        }
    }

    /// Puts `@Persisted` in place of `@objc` or `dynamic`, or before the modifiers.
    private mutating func persist(_ property: PropertyDeclaration, arguments: String = "") {
        let head = property.head
        let attribute = "@Persisted\(arguments)"
        let dynamic = head.modifier("dynamic")
        if let objc = head.attribute("objc") {
            replace(objc.tokens, with: attribute)
            if let dynamic { remove(dynamic.tokens) }
        } else if let dynamic, dynamic.tokens.lowerBound == head.modifiers.first?.tokens.lowerBound {
            replace(dynamic.tokens, with: attribute)
        } else {
            insert(attribute + " ", before: head.modifiers.first?.tokens.lowerBound ?? property.keyword)
            if let dynamic { remove(dynamic.tokens) }
        }
        guard property.block != nil else { return }
        report(
            .note, at: property.nameToken,
            "'\(property.name)' has observers, which now run for every set, even of objects in a Realm.",
            "They didn't run there before: check that this does no harm.")
    }

    mutating func removeObjC(_ head: DeclarationHead) {
        if let objc = head.attribute("objc") { remove(objc.tokens) }
        if let dynamic = head.modifier("dynamic") { remove(dynamic.tokens) }
    }

    private mutating func makeVariable(_ property: PropertyDeclaration) {
        if property.isLet { replace(property.keyword, with: "var") }
    }

    /// Replaces everything after the name, up to the end of the initial value.
    private mutating func replaceFromName(_ property: PropertyDeclaration, with text: String) {
        let end = property.value?.upperBound ?? property.type?.upperBound ?? property.nameToken + 1
        let start = source.tokens[property.nameToken].range.upperBound
        edits.append(Edit(range: start..<source.tokens[end - 1].range.upperBound, text: text))
    }

    /// `@Persisted` applies to a single variable, so each gets its own line.
    private mutating func split(_ property: PropertyDeclaration) {
        let modifiers = property.head.modifiers.filter { $0.name != "dynamic" }.map { source.text($0.tokens) + " " }
        let indentation = source.indentation(source.tokens[property.head.start].range.lowerBound)
        for comma in property.commas {
            let span = source.tokens[comma].range.lowerBound..<source.tokens[comma + 1].range.lowerBound
            edits.append(
                Edit(
                    range: span,
                    text: source.newline + indentation + "@Persisted " + modifiers.joined() + "var "))
        }
    }

    /// Rewrites `NSDate` to `Date` in the declaration.
    private mutating func bridge(_ property: PropertyDeclaration) {
        for range in [property.type, property.value].compactMap(\.self) {
            for token in range where source.isIdentifier(token) && !source.isToken(token - 1, ".") {
                if let bridge = ModelFacts.bridges[source.text(token)] { replace(token, with: bridge) }
            }
        }
    }

    /// The type of a required property that the input doesn't declare is either an enumeration, a projection or a
    /// mistake.
    private mutating func reportType(_ property: PropertyDeclaration, in type: TypeDeclaration) {
        if property.type == nil { return reportInferredLink(property, in: type) }
        guard let range = property.type, let name = source.name(range.lowerBound) else { return }
        let known: Set<String> = [
            "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "Float", "Double", "String", "Data", "Date", "UUID",
            "ObjectId", "Decimal128", "AnyRealmValue", "NSDate", "NSData", "NSString", "Optional", "RealmSwift",
            "Swift",
            "Foundation",
        ]
        guard range.count == 1, !known.contains(name) else { return }
        switch index.resolve(name, in: type.path, file: file) {
        case .found(let id) where index[id]?.kind == .enum: return
        case .found(let id) where index.isModel(id):
            report(
                .warning, at: property.nameToken, "'\(property.name)' links to \(name) and isn't optional.",
                "Links are optional: write '\(name)?'.")
        case .found:
            report(
                .warning, at: property.nameToken, "'\(property.name)' is a \(name), which can't be stored.",
                "Make \(name) a CustomPersistable.")
        case .ambiguous, .unknown:
            report(
                .note, at: property.nameToken, "'\(property.name)' is a \(name), which isn't in the input.",
                "An enumeration must be a PersistableEnum: pass its file too, or add the conformance. Any other type "
                    + "must be CustomPersistable.")
        }
    }

    /// Reports `var temperature: Double = .nan`.
    private mutating func reportNaN(_ property: PropertyDeclaration) {
        guard let value = property.value, source.isToken(value.upperBound - 1, "nan"),
            source.isToken(value.upperBound - 2, ".")
        else { return }
        report(
            .warning, at: property.nameToken, "'\(property.name)' is NaN at first, which can't be stored.",
            "Make it optional, with nil for 'unknown', or start with a number.")
    }

    /// Reports `var owner = Person()`.
    private mutating func reportInferredLink(_ property: PropertyDeclaration, in type: TypeDeclaration) {
        guard let value = property.value, let name = source.name(value.lowerBound),
            source.isToken(value.lowerBound + 1, "("), source.next(value.lowerBound + 1) == value.upperBound,
            case .found(let id) = index.resolve(name, in: type.path, file: file), index.isModel(id)
        else { return }
        report(
            .warning, at: property.nameToken, "'\(property.name)' links to \(name) and isn't optional.",
            "Links are optional: write 'var \(property.name): \(name)? = \(source.text(value))'.")
    }

    private mutating func reportUnsupportedWrapper(_ property: PropertyDeclaration) {
        guard property.head.attribute("Persisted") != nil, property.head.has("dynamic") else { return }
        report(
            .warning, at: property.nameToken, "'\(property.name)' is both '@Persisted' and 'dynamic'.",
            "Remove '@objc dynamic'.")
    }
}
