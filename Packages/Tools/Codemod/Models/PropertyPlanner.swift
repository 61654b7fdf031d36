/// Decides what to do with each property of a model class.
struct PropertyPlanner {
    let source: SourceText
    /// The names that `ignoredProperties()` of the class and its superclasses returns.
    let ignored: Set<String>
    let hasObjCMembers: Bool
    /// Whether the input declares a type of this name, so that the name doesn't refer to Realm's type.
    let isDeclared: (String) -> Bool

    /// Types that Realm never stored.
    private static let unsupported: Set<String> = [
        "NSNumber", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Character", "Any", "AnyObject", "NSArray",
        "NSDictionary", "NSMutableArray", "NSMutableDictionary", "NSMutableString", "NSObject", "Array", "Dictionary",
        "Set", "NSURL", "URL",
    ]

    func plan(_ property: PropertyDeclaration) -> PropertyPlan {
        let head = property.head
        if head.attribute("Persisted") != nil { return .keep }
        let objc = head.attribute("objc")
        let isDynamic = head.has("dynamic")
        if head.isStatic || head.has("lazy") || head.has("weak") || head.has("unowned") {
            guard isDynamic || objc != nil else { return .keep }
            return .left(
                "'\(property.name)' isn't a stored instance property, and 'dynamic' needs the ObjC runtime.",
                advice: "Remove '@objc dynamic' unless Objective-C code reads it.")
        }
        if property.isComputed { return isDynamic || objc != nil ? .plain : .keep }
        if names(property).allSatisfy(ignored.contains) { return isDynamic || objc != nil ? .plain : .keep }
        if let objc, objc.hasArguments {
            return .left(
                "'\(property.name)' has another name in Objective-C, which Realm used in its files.",
                advice: "Write '@Persisted', and map the name in propertiesMapping() if files already have it.")
        }
        if let special = collection(property) { return special }
        guard isDynamic else {
            guard objc != nil || (hasObjCMembers && !property.isLet) else { return .keep }
            return .left(
                "'\(property.name)' is visible to the ObjC runtime but not 'dynamic': Realm stored it, but reads "
                    + "bypassed Realm.",
                advice: "Write '@Persisted' to store it, or remove '@objc' to make it a plain property.")
        }
        return dynamic(property)
    }

    /// `@objc dynamic var`.
    private func dynamic(_ property: PropertyDeclaration) -> PropertyPlan {
        if property.isLet {
            return .left(
                "'let \(property.name)' is 'dynamic' and constant.", advice: "Write '@Persisted var' to store it.")
        }
        if let type = property.type, let name = unsupportedName(type) {
            return .left(
                "'\(property.name)' is of type \(name), which can't be stored.", advice: Self.replacement(of: name))
        }
        if let value = property.value, property.type == nil, let name = source.name(value.lowerBound),
            Self.unsupported.contains(name), !isDeclared(name)
        {
            return .left(
                "'\(property.name)' is of type \(name), which can't be stored.", advice: Self.replacement(of: name))
        }
        if !property.commas.isEmpty, !canSplit(property) || names(property).contains(where: ignored.contains) {
            return .left(
                "One declaration has several variables, but '@Persisted' takes one.",
                advice: "Write a declaration for each, with its type.")
        }
        return .persisted
    }

    /// The name of each variable in the declaration.
    private func names(_ property: PropertyDeclaration) -> [String] {
        [property.name] + property.commas.compactMap { source.name($0 + 1) }
    }

    /// Whether each variable of `var a = 1, b: Int` has its own type or value.
    func canSplit(_ property: PropertyDeclaration) -> Bool {
        (property.type != nil || property.value != nil)
            && property.commas.allSatisfy { comma in
                !source.holdsComment(comma..<comma + 2) && source.isIdentifier(comma + 1)
                    && (source.isToken(comma + 2, ":") || source.isToken(comma + 2, "="))
            }
    }

    private func unsupportedName(_ type: Range<Int>) -> String? {
        if source.isToken(type.lowerBound, "[") { return source.text(type) }
        if source.isToken(type.lowerBound, "(") { return source.text(type) }
        guard let name = source.name(type.lowerBound), Self.unsupported.contains(name), !isDeclared(name) else {
            return nil
        }
        return name
    }

    private static func replacement(of name: String) -> String {
        switch name {
        case "NSNumber": "Write '@Persisted var' with Int, Double or Bool, or one of their optionals."
        case _ where name.hasPrefix("["), "Array", "NSArray", "NSMutableArray":
            "Write '@Persisted var …: List<Element>'."
        case _ where name.hasPrefix("UInt"): "Write Int."
        case "URL", "NSURL": "Store it as a String, or make it a CustomPersistable."
        default: "Use a type that can be stored, or make it a CustomPersistable."
        }
    }

    // MARK: Realm's own types

    private func collection(_ property: PropertyDeclaration) -> PropertyPlan? {
        let call = property.value.flatMap { CollectionCall(source, $0) }
        let annotation = property.type.flatMap { CollectionCall.annotation(source, $0) }
        let initialiser = property.value.map { source.text($0) }
        guard let name = annotation?.name ?? (property.type == nil ? call?.name : nil), !isDeclared(name) else {
            return nil
        }
        guard CollectionCall.names.contains(name) || CollectionCall.boxes.contains(name) || name == "LinkingObjects"
        else { return nil }
        if !property.commas.isEmpty {
            return .left(
                "One declaration has several variables, but '@Persisted' takes one.",
                advice: "Write a declaration for each.")
        }
        if let span = property.value, source.holdsComment(property.nameToken..<span.upperBound) {
            return .left(
                "There's a comment inside the declaration of '\(property.name)'.",
                advice: "Move it above the declaration and run this again.")
        }
        if name == "LinkingObjects" { return linking(property, call, annotation?.element) }
        let isEmpty = call.map { $0.name == name && $0.arguments.isEmpty } ?? (initialiser == ".init()")
        if CollectionCall.boxes.contains(name) {
            return box(property, name, annotation?.element ?? call?.element, call, isEmpty: isEmpty)
        }
        guard let type = property.type ?? call?.type else {
            return .left(
                "'\(property.name)' doesn't say what it's a \(name) of.",
                advice: "Write '@Persisted var \(property.name): \(name)<Element>'.")
        }
        return .collection(type: source.text(type), dropsValue: isEmpty)
    }

    private func box(
        _ property: PropertyDeclaration, _ name: String, _ element: Range<Int>?, _ call: CollectionCall?, isEmpty: Bool
    ) -> PropertyPlan {
        guard let element else {
            return .left(
                "'\(property.name)' doesn't say what it's a \(name) of.",
                advice: "Write '@Persisted var \(property.name): Int?', with the type of its value.")
        }
        let type = source.text(element) + (name == "RealmOptional" && !source.text(element).hasSuffix("?") ? "?" : "")
        if property.value == nil || isEmpty { return .box(type: type, value: nil) }
        guard let call, call.name == name, !source.isToken(call.arguments.lowerBound + 1, ":") else {
            return .left(
                "'\(property.name)' is a \(name) with an initial value that this tool doesn't understand.",
                advice: "Write '@Persisted var \(property.name): \(type) = …'.")
        }
        return .box(type: type, value: source.text(call.arguments))
    }

    private func linking(
        _ property: PropertyDeclaration, _ call: CollectionCall?, _ element: Range<Int>?
    ) -> PropertyPlan {
        func left() -> PropertyPlan {
            .left(
                "'\(property.name)' is LinkingObjects with a class or property that this tool doesn't understand.",
                advice: "Write '@Persisted(originProperty: \"…\") var \(property.name): LinkingObjects<…>'.")
        }
        guard let call, call.name == "LinkingObjects" else { return left() }
        let arguments = call.arguments
        var comma = arguments.lowerBound
        while comma < arguments.upperBound, !source.isToken(comma, ",") { comma = source.next(comma) }
        guard source.isToken(arguments.lowerBound, "fromType"), source.isToken(arguments.lowerBound + 1, ":"),
            source.isToken(comma - 1, "self"), source.isToken(comma - 2, "."), comma < arguments.upperBound,
            source.isToken(comma + 1, "property"), source.isToken(comma + 2, ":"),
            let origin = NameList.name(source, comma + 3..<arguments.upperBound)
        else { return left() }
        return .linking(element: source.text(arguments.lowerBound + 2..<comma - 2), origin: origin)
    }
}
