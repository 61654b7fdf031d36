/// Rewrites `dog.age.value` of a RealmOptional to `dog.age`.
extension FileRewriter {
    mutating func rewriteBoxes() {
        reportOtherBoxes()
        guard !facts.boxes.isEmpty else { return }
        let shadows = localNames()
        for token in source.tokens.indices {
            guard let name = source.name(token), let owners = facts.boxes[name], source.isToken(token + 1, "."),
                source.isToken(token + 2, "value"), !source.isToken(token + 3, "(")
            else { continue }
            let isMember = source.isToken(token - 1, ".")
            let isOwn = isMember && source.isToken(token - 2, "self") && !source.isToken(token - 3, ".")
            let isInside = model(around: token).map { !owners.isDisjoint(with: index.ancestry(of: $0)) } ?? false
            let isSure: Bool
            if isOwn {
                isSure = isInside
            } else if isMember {
                isSure = !facts.sharedBoxNames.contains(name)
            } else {
                isSure = isInside && !shadows.contains(name)
            }
            if isSure {
                replace(token + 1..<token + 3, with: "")
                counts.others += 1
            } else {
                report(
                    .warning, at: token,
                    "'\(name)' may be the property that was a RealmOptional, or something else with a 'value'.",
                    "If it's the property, remove '.value'.")
            }
        }
    }

    /// The names of this file's variables and parameters whose type is unknown.
    private func localNames() -> Set<String> {
        var names: Set<String> = []
        let properties = Set(
            parsed.types.indices.flatMap { parsed.properties($0) }.map(\.nameToken))
        for token in source.tokens.indices {
            guard let name = source.name(token), facts.boxes[name] != nil, !properties.contains(token) else { continue }
            let isVariable = source.isToken(token - 1, "var") || source.isToken(token - 1, "let")
            // `for age in`, `{ age in`, `{ age, size in`.
            let isParameter =
                source.isToken(token + 1, "in") || (source.isToken(token - 1, "{") && source.isToken(token + 1, ","))
            if isVariable || isParameter { names.insert(name) }
        }
        for function in parsed.types.indices.flatMap({ parsed.functions($0) }) {
            for token in function.parameters..<source.next(function.parameters) {
                guard let name = source.name(token), facts.boxes[name] != nil, source.isToken(token + 1, ":") else {
                    continue
                }
                if !ModelFacts.scalars.contains(source.text(token + 2)) { names.insert(name) }
            }
        }
        return names
    }

    private mutating func reportOtherBoxes() {
        var converted: [Range<Int>] = []
        for (id, plans) in facts.plans where id.file == file {
            for planned in plans {
                if case .box = planned.plan { converted.append(planned.property.head.start..<planned.property.end) }
            }
        }
        let starts = converted.sorted { $0.lowerBound < $1.lowerBound }
        var position = 0
        for token in source.tokens.indices {
            while position < starts.count, starts[position].upperBound <= token { position += 1 }
            let isConverted = position < starts.count && starts[position].contains(token)
            guard !isConverted, let name = source.name(token), CollectionCall.boxes.contains(name),
                source.isToken(token + 1, "<")
            else { continue }
            report(
                .warning, at: token, "\(name) no longer exists.",
                "Write an optional such as 'Int?', and remove '.value'.")
        }
    }
}
