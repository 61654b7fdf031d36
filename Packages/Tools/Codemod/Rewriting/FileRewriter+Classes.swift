extension FileRewriter {
    private static let nameLists: Set<String> = ["primaryKey", "indexedProperties", "ignoredProperties"]

    mutating func rewriteModel(_ id: TypeID) {
        let type = parsed.types[id.type]
        guard !facts.unreadable.contains(id) else {
            return report(
                .warning, at: type.nameToken,
                "This tool can't tell what ignoredProperties() of \(type.name) returns, so it didn't rewrite any of "
                    + "its properties.",
                "Return an array of string literals.")
        }
        rewriteAttributes(type)
        for planned in facts.plans[id] ?? [] { rewriteProperty(planned, of: type) }
        for function in parsed.functions(id.type) { rewriteFunction(function, of: type) }
        reportSelectors(type)
    }

    mutating func rewriteExtension(_ id: TypeID, of owner: TypeID) {
        guard !facts.unreadable.contains(owner) else { return }
        let type = parsed.types[id.type]
        if let objc = type.head.attribute("objc") {
            remove(objc.tokens)
            counts.others += 1
        }
        for property in parsed.properties(id.type) where property.isComputed {
            guard property.head.has("dynamic") || property.head.attribute("objc") != nil else { continue }
            removeObjC(property.head)
            counts.properties += 1
        }
        for function in parsed.functions(id.type) {
            if Self.nameLists.contains(function.name), function.head.has("override") {
                report(
                    .warning, at: function.keyword,
                    "'\(function.name)()' is overridden in an extension, which needs the ObjC runtime.",
                    "Move it into the body of the class.")
            }
            rewriteFunction(function, of: type)
        }
        reportSelectors(type)
    }

    private mutating func rewriteAttributes(_ type: TypeDeclaration) {
        if let members = type.head.attribute("objcMembers") {
            remove(members.tokens)
            counts.others += 1
        }
        guard let objc = type.head.attribute("objc") else { return }
        remove(objc.tokens)
        counts.others += 1
        if objc.hasArguments {
            report(
                .warning, at: type.nameToken,
                "\(type.name) had another name in Objective-C ('\(source.text(objc.tokens))'), which Realm used in its "
                    + "files.",
                "Rename the class if files or a server already have it under that name.")
        }
    }

    /// Reports a class with `dynamic` properties that could be a model, as far as the input shows.
    mutating func reportPossibleModel(_ id: TypeID) {
        let type = parsed.types[id.type]
        guard type.kind == .class, let superclass = type.inherited.first else { return }
        if index.ambiguous.contains(id) {
            return report(
                .warning, at: type.nameToken,
                "\(type.name) inherits from \(superclass.name), and the input has several of them, not all models.",
                "Run this on the files of one module at a time.")
        }
        guard index.superclass(of: id) == nil else { return }
        let isLikely =
            parsed.functions(id.type).contains { $0.head.has("override") && Self.nameLists.contains($0.name) }
            || parsed.properties(id.type).contains { property in
                property.value.flatMap { CollectionCall(source, $0) }.map {
                    CollectionCall.boxes.contains($0.name) || $0.name == "LinkingObjects"
                } ?? false
            }
        guard isLikely else { return }
        report(
            .warning, at: type.nameToken,
            "\(type.name) looks like a model, but its superclass \(superclass.name) isn't in the input.",
            "Pass the file that declares \(superclass.name) too.")
    }

    // MARK: Functions

    private mutating func rewriteFunction(_ function: FunctionDeclaration, of type: TypeDeclaration) {
        if function.name == "init", source.isToken(function.keyword, "init") {
            return rewriteInitialiser(function, of: type)
        }
        if Self.nameLists.contains(function.name), let body = function.body, let end = source.partner(body) {
            rewriteKeyPaths(body + 1..<end)
        }
        if function.head.has("override"), ["isEqual", "copy", "mutableCopy"].contains(function.name) {
            report(
                .warning, at: function.keyword,
                "'\(function.name)' overrides a method of NSObject, which models no longer are.",
                "Remove 'override'. Objects are Hashable by identity or primary key; to compare properties, write "
                    + "another method.")
        }
        if function.name == "observeValue" || function.name.hasPrefix("keyPathsForValuesAffecting") { return }
        guard function.head.attribute("objc") != nil || function.head.has("dynamic") else { return }
        removeObjC(function.head)
        counts.others += 1
        report(
            .note, at: function.keyword, "'\(function.name)' is no longer visible to the ObjC runtime.",
            "If a '#selector' names it, call it from a closure instead.")
    }

    /// Rewrites `#keyPath(Dog.name)` to `"name"`.
    private mutating func rewriteKeyPaths(_ body: Range<Int>) {
        var token = body.lowerBound
        while token < body.upperBound {
            let end = source.next(token + 1)
            if source.isToken(token, "#keyPath"), let name = NameList.name(source, token..<end) {
                replace(token..<end, with: "\"\(name)\"")
                counts.others += 1
                token = end
            } else {
                token += 1
            }
        }
    }

    private mutating func rewriteInitialiser(_ function: FunctionDeclaration, of type: TypeDeclaration) {
        let end = source.next(function.parameters)
        if source.text(function.parameters..<end).contains("RLM") { return rewriteBridgeInitialiser(function) }
        let isEmpty = end == function.parameters + 2
        if isEmpty, let override = function.head.modifier("override") {
            if function.head.has("required") {
                remove(override.tokens)
            } else {
                replace(override.tokens, with: "required")
            }
            counts.others += 1
        }
        if let objc = function.head.attribute("objc") {
            remove(objc.tokens)
            counts.others += 1
        }
        guard !function.head.has("convenience"), type.kind == .class else { return }
        reportEarlyAssignments(function, of: type)
    }

    /// Handles `required init(realm: RLMRealm, schema: RLMObjectSchema)`, which old versions of Realm required.
    private mutating func rewriteBridgeInitialiser(_ function: FunctionDeclaration) {
        if let body = function.body, let end = source.partner(body) {
            let first = source.text(body + 1)
            let isForwarding = first == "super" && source.isToken(body + 3, "init") && source.next(body + 4) == end
            if isForwarding || (first == "fatalError" && source.next(body + 2) == end) {
                remove(function.head.start..<function.end)
                counts.others += 1
                return
            }
        }
        report(
            .warning, at: function.keyword,
            "This initialiser takes types of Realm's ObjC library, which doesn't exist here.",
            "Remove it; move what it does to 'required init()'.")
    }

    /// Before `super.init()`, the properties were plain memory. Now setting one uses the whole object.
    private mutating func reportEarlyAssignments(_ function: FunctionDeclaration, of type: TypeDeclaration) {
        guard let body = function.body, let end = source.partner(body) else { return }
        var token = body + 1
        while token < end {
            if source.isToken(token, "super"), source.isToken(token + 1, "."), source.isToken(token + 2, "init") {
                return
            }
            let isSelf = source.isToken(token, "self") && source.isToken(token + 1, ".")
            let name = isSelf ? token + 2 : token
            if isSelf || source.startsLine(token), let text = source.name(name), facts.propertyNames.contains(text),
                source.isToken(name + 1, "="), !source.isToken(name + 2, "=")
            {
                return report(
                    .warning, at: token,
                    "'\(text)' is set before 'super.init()', which '@Persisted' properties don't allow.",
                    "Move 'super.init()' above it.")
            }
            token += 1
        }
    }

    private mutating func reportSelectors(_ type: TypeDeclaration) {
        for token in type.open..<type.close where source.isToken(token, "#selector") {
            guard let innermost = parsed.type(around: token), parsed.types[innermost].open == type.open else {
                continue
            }
            report(
                .warning, at: token, "'#selector' needs the ObjC runtime.",
                "Pass a closure, or keep this code for Apple's systems.")
        }
    }
}
