/// Reads the JSON form leniently: it records a problem for anything that has the wrong shape and continues after it.
struct ModelDocumentReader: Decodable {
    /// The maximum number of bytes that messages quote of text that isn't a name.
    static let maximumQuotation = 200

    private(set) var app = ""
    private(set) var classes: [ModelClass] = []
    private(set) var problems: [ModelDocumentError.Problem] = []
    /// The reason why nothing else was read.
    private(set) var error: ModelDocumentError?

    private typealias Members = KeyedDecodingContainer<MemberName>

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The location of a problem.
    private struct Place {
        var className: String?
        var property: String?
    }

    init(from decoder: any Decoder) {
        guard let members = try? decoder.container(keyedBy: MemberName.self) else {
            error = ModelDocumentError(
                Wording("The document must be a JSON object with the members format, app and classes."))
            return
        }
        guard let format = try? members.decode(Int.self, forKey: MemberName(stringValue: "format")) else {
            error = ModelDocumentError(
                Wording(
                    "The document has no \"format\", which must be a whole number. Is it a model document? This "
                        + "program reads format \(ModelDocument.currentFormat)."))
            return
        }
        guard format <= ModelDocument.currentFormat else {
            error = ModelDocumentError(
                Wording(
                    "The document has format \(format): it was written by a newer version of Tombolo. This program reads "
                        + "format \(ModelDocument.currentFormat); update it."), isNewerFormat: true)
            return
        }
        guard format > 0 else {
            error = ModelDocumentError(Wording("The document has format \(format), which doesn't exist."))
            return
        }
        let place = Place()
        checkNames(
            members, unknown: { Wording("\"\($0)\" isn't a member of a document.") }, ["format", "app", "classes"],
            place)
        app = text("app", members, place, isRequired: true) ?? ""
        for item in elements("classes", members, place, isRequired: true, limit: ModelDocument.maximumClassCount) {
            readClass(item)
            guard problems.count < ModelDocumentError.maximumProblemCount else { break }
        }
    }

    private mutating func readClass(_ decoder: any Decoder) {
        guard let members = object(decoder, Wording("A class must be a JSON object."), Place()) else { return }
        let name = text("name", members, Place(), isRequired: true) ?? ""
        let place = Place(className: ModelName.shown(name))
        checkNames(
            members, unknown: { Wording("\"\($0)\" isn't a member of a class.") },
            ["name", "table", "embedded", "trashable", "unique", "previousNames", "retired", "properties"], place)
        var table = text("table", members, place)
        let isEmbedded = flag("embedded", members, place)
        if isEmbedded, table != nil {
            report(Wording("An embedded class has no table: remove \"table\" or \"embedded\"."), place)
        }
        table = isEmbedded ? nil : table ?? Column.sqlName(for: name)
        var properties: [ModelProperty] = []
        let limit = ModelDocument.maximumPropertyCount
        for item in elements("properties", members, place, isRequired: true, limit: limit) {
            if let property = readProperty(item, place) { properties.append(property) }
            guard problems.count < ModelDocumentError.maximumProblemCount else { break }
        }
        let unique = elements("unique", members, place, limit: limit).map { names($0, "unique", place) }
        classes.append(
            ModelClass(
                name: name, table: table, properties: properties, uniqueProperties: unique,
                isTrashable: flag("trashable", members, place), previousNames: previousNames(members, place),
                isRetired: flag("retired", members, place)))
    }

    private mutating func readProperty(_ decoder: any Decoder, _ classPlace: Place) -> ModelProperty? {
        guard let members = object(decoder, Wording("A property must be a JSON object."), classPlace),
            let name = text("name", members, classPlace, isRequired: true)
        else { return nil }
        var place = classPlace
        place.property = ModelName.shown(name)
        checkNames(
            members, unknown: { Wording("\"\($0)\" isn't a member of a property.") },
            [
                "name", "column", "type", "primaryKey", "indexed", "encrypted", "values", "hint", "markdown",
                "place", "onDelete", "previousNames", "retired",
            ], place)
        var type: (type: PropertyType, isOptional: Bool) = (.string, false)
        if let written = text("type", members, place, isRequired: true) {
            if let read = PropertyType.parse(written) {
                type = read
            } else {
                report(
                    Wording("'\(written.shortened(toByteCount: Self.maximumQuotation))' isn't a type."), place,
                    hint: nearestType(written))
            }
        }
        var deleteRule = DeleteRule.nullify
        switch text("onDelete", members, place) {
        case nil, "nullify": break
        case "cascade": deleteRule = .cascade
        case let other?:
            report(
                Wording("\"onDelete\" must be \"cascade\" or \"nullify\", not \"\(ModelName.shown(other))\"."), place)
        }
        var coordinate: Column.Coordinate?
        if let written = text("place", members, place) {
            coordinate = Column.Coordinate(rawValue: written)
            if coordinate == nil {
                report(
                    Wording(
                        "\"place\" must be \"latitude\" or \"longitude\", not \"\(ModelName.shown(written))\"."), place)
            }
        }
        return ModelProperty(
            name: name, column: text("column", members, place), type: type.type, isOptional: type.isOptional,
            isPrimaryKey: flag("primaryKey", members, place), isIndexed: flag("indexed", members, place),
            isEncrypted: flag("encrypted", members, place), deleteRule: deleteRule,
            allowedValues: allowedValues(members, place), hint: text("hint", members, place),
            isMarkdown: flag("markdown", members, place), coordinate: coordinate,
            previousNames: previousNames(members, place), isRetired: flag("retired", members, place))
    }

    private func nearestType(_ written: String) -> String? {
        let outside = written.prefix { $0 != "<" && $0 != "?" }
        let isGeneric = written.contains("<")
        let candidates = isGeneric ? PropertyType.generics : PropertyType.words.keys.sorted()
        guard let nearest = String(outside).nearest(in: candidates) else { return nil }
        let result = nearest + written[outside.endIndex...]
        return PropertyType.parse(result) == nil ? nil : result
    }

    // MARK: Members

    private mutating func report(_ reason: Wording, _ place: Place, hint: String? = nil) {
        guard problems.count < ModelDocumentError.maximumProblemCount else { return }
        problems.append(
            ModelDocumentError.Problem(
                className: place.className, property: place.property, reason: reason, hint: hint))
    }

    private mutating func checkNames(
        _ members: Members, unknown: (String) -> Wording, _ known: [String], _ place: Place
    ) {
        for name in members.allKeys.map(\.stringValue).sorted() where !known.contains(name) {
            guard problems.count < ModelDocumentError.maximumProblemCount else { return }
            report(unknown(ModelName.shown(name)), place, hint: name.nearest(in: known))
        }
    }

    private mutating func object(_ decoder: any Decoder, _ problem: Wording, _ place: Place) -> Members? {
        if let members = try? decoder.container(keyedBy: MemberName.self) { return members }
        report(problem, place)
        return nil
    }

    private mutating func text(
        _ name: String, _ members: Members, _ place: Place, isRequired: Bool = false
    ) -> String? {
        let key = MemberName(stringValue: name)
        guard members.contains(key) else {
            if isRequired { report(Wording("\"\(name)\" is missing."), place) }
            return nil
        }
        if let value = try? members.decode(String.self, forKey: key) { return value }
        report(Wording("\"\(name)\" must be a string."), place)
        return nil
    }

    private mutating func flag(_ name: String, _ members: Members, _ place: Place) -> Bool {
        let key = MemberName(stringValue: name)
        guard members.contains(key) else { return false }
        if let value = try? members.decode(Bool.self, forKey: key) { return value }
        report(Wording("\"\(name)\" must be true or false."), place)
        return false
    }

    private mutating func elements(
        _ name: String, _ members: Members, _ place: Place, isRequired: Bool = false, limit: Int
    ) -> [any Decoder] {
        let key = MemberName(stringValue: name)
        guard members.contains(key) else {
            if isRequired { report(Wording("\"\(name)\" is missing."), place) }
            return []
        }
        guard let array = try? members.nestedUnkeyedContainer(forKey: key) else {
            report(Wording("\"\(name)\" must be an array."), place)
            return []
        }
        return elements(array, name, place, limit: limit)
    }

    private mutating func elements(
        _ array: any UnkeyedDecodingContainer, _ name: String, _ place: Place, limit: Int
    ) -> [any Decoder] {
        var array = array
        var result: [any Decoder] = []
        while !array.isAtEnd {
            guard result.count < limit else {
                report(Wording("\"\(name)\" has more than \(limit) elements."), place)
                return []
            }
            guard let element = try? array.superDecoder() else { break }
            result.append(element)
        }
        return result
    }

    private mutating func allowedValues(_ members: Members, _ place: Place) -> AllowedValues? {
        let key = MemberName(stringValue: "values")
        guard members.contains(key) else { return nil }
        var values: [Value] = []
        for element in elements("values", members, place, limit: AllowedValues.maximumCount) {
            let container = try? element.singleValueContainer()
            if let text = try? container?.decode(String.self) {
                values.append(.string(text))
            } else if let number = try? container?.decode(Int64.self) {
                values.append(.int(number))
            } else {
                report(Wording("\"values\" must be an array of strings or of whole numbers."), place)
                return nil
            }
        }
        if let problem = AllowedValues.problem(of: values) { report(Wording("\"values\": \(problem)"), place) }
        return AllowedValues(values)
    }

    private mutating func previousNames(_ members: Members, _ place: Place) -> [String] {
        let key = MemberName(stringValue: "previousNames")
        guard members.contains(key) else { return [] }
        guard let decoder = try? members.superDecoder(forKey: key) else { return [] }
        return names(decoder, "previousNames", place)
    }

    private mutating func names(_ decoder: any Decoder, _ name: String, _ place: Place) -> [String] {
        guard let array = try? decoder.unkeyedContainer() else {
            report(Wording("\"\(name)\" must be an array of names."), place)
            return []
        }
        var result: [String] = []
        for element in elements(array, name, place, limit: ModelDocument.maximumPropertyCount) {
            if let value = try? element.singleValueContainer().decode(String.self) {
                result.append(value)
            } else {
                report(Wording("\"\(name)\" must be an array of names."), place)
                break
            }
        }
        return result
    }
}
