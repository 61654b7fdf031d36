import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

/// Converts values of the API to the contents of controls, and input back to values.
extension FormPart {
    /// Whether it's an element of a list, which exists as long as the list contains it.
    private var isElement: Bool {
        switch kind {
        case .object(_, let isElement): isElement
        case .tuple: true
        case .control, .values, .objects, .links: false
        }
    }

    // MARK: From JSON to entries

    func entry(_ json: JSON) -> FormEntry {
        switch kind {
        case .control(let control): return .text(control.text(json))
        case .object:
            var object = FormEntry.Object(isThere: isElement || json != .null)
            if case .string(let id)? = json[ResourceField.elementID] { object.id = id }
            for member in members where object.isThere {
                object.members[member.field.name] = member.entry(json[member.field.name] ?? .null)
            }
            return .object(object)
        case .tuple:
            var object = FormEntry.Object()
            for (member, value) in zip(members, json.items) { object.members[member.field.name] = member.entry(value) }
            return .object(object)
        case .links:
            return .list(json.items.map { if case .string(let id) = $0 { .text(id) } else { .text("") } })
        case .values, .objects:
            return .list(json.items.enumerated().map { element($0)?.entry($1) ?? .text("") })
        }
    }

    /// The contents for a new one.
    var blank: FormEntry {
        switch kind {
        case .control(let control):
            if case .truth = control.control, !field.isOptional { return .text("false") }
            return .text("")
        case .object, .tuple:
            var object = FormEntry.Object(isThere: isElement)
            for member in members where isElement { object.members[member.field.name] = member.blank }
            return .object(object)
        case .values, .objects, .links: return .list([])
        }
    }

    // MARK: From entries to JSON

    /// The submitted contents.
    /// - Returns: nil if the form doesn't contain this part.
    /// - Throws: ``RequestFailure`` with status 400 for more elements than a form may have.
    func entry(_ form: FormValues) throws -> FormEntry? {
        switch kind {
        case .control(let control): return form[control.name].map(FormEntry.text)
        case .object, .tuple:
            let flag = form[FormValues.presence(path)]
            guard isElement || flag != nil else { return nil }
            var object = FormEntry.Object(isThere: isElement || flag == FormValues.isThere)
            object.id = form[FormValues.identity(path)] ?? ""
            for member in members where object.isThere {
                object.members[member.field.name] = try member.entry(form) ?? member.blank
            }
            return .object(object)
        case .values, .objects, .links:
            guard let count = try form.count(path) else { return nil }
            return .list(
                try (0..<count).map { index in
                    guard let element = element(index) else { return .text(form["f.\(path).\(index)"] ?? "") }
                    return try element.entry(form) ?? element.blank
                })
        }
    }

    /// The input as JSON of the API. Members without a control keep their values.
    /// - Parameter was: the original value; null for a new one.
    func json(_ entry: FormEntry, was: JSON) -> JSON {
        switch (kind, entry) {
        case (.control(let control), .text(let text)): return control.json(text, was: was)
        case (.object, .object(let object)):
            guard object.isThere else { return .null }
            var result: [String: JSON] = if case .object(let members) = was { members } else { [:] }
            for member in members {
                let name = member.field.name
                result[name] = member.json(object.members[name] ?? member.blank, was: was[name] ?? .null)
            }
            result.removeValue(forKey: ResourceField.elementID)
            if !object.id.isEmpty { result[ResourceField.elementID] = .string(object.id) }
            return .object(result)
        case (.tuple, .object(let object)):
            return .array(members.map { $0.json(object.members[$0.field.name] ?? $0.blank, was: .null) })
        case (.links, .list(let elements)):
            return .array(
                elements.compactMap { if case .text(let id) = $0, !id.isEmpty { .string(id) } else { nil } })
        case (_, .list(let elements)):
            return .array(
                elements.enumerated().map { index, entry in
                    guard let element = element(index) else { return .null }
                    return element.json(entry, was: element.original(entry, among: was.items))
                })
        default: return was
        }
    }

    /// The original list element from which an entry was filled.
    private func original(_ entry: FormEntry, among was: [JSON]) -> JSON {
        switch (kind, entry) {
        case (.control(let control), .text(let text)):
            was.first { FormField.lines(control.text($0)) == FormField.lines(text) } ?? .null
        case (_, .object(let object)) where !object.id.isEmpty:
            was.first { $0[ResourceField.elementID] == .string(object.id) } ?? .null
        default: .null
        }
    }

    // MARK: Buttons

    /// Applies a button to the input.
    /// - Parameters:
    ///   - path: the path from this part to the button's target.
    ///   - added: the object chosen to be added to a list of links.
    /// - Returns: the place that gets the focus; nil if there is no such place and nothing was done.
    /// - Throws: ``RequestFailure`` with status 422 for a link that the list already contains.
    func perform(
        _ verb: FormAction.Verb, at path: ArraySlice<Substring>, added: String?, on entry: inout FormEntry
    ) throws(RequestFailure) -> String? {
        switch entry {
        case .text: return nil
        case .object(var object):
            if path.isEmpty {
                guard case .object(_, isElement: false) = kind, verb == .set || verb == .clear else { return nil }
                object.isThere = verb == .set
                for member in members where object.members[member.field.name] == nil {
                    object.members[member.field.name] = member.blank
                }
                entry = .object(object)
                return self.path
            }
            guard let member = members.first(where: { $0.field.name == path[path.startIndex] }),
                var inner = object.members[member.field.name]
            else { return nil }
            let place = try member.perform(verb, at: path.dropFirst(), added: added, on: &inner)
            object.members[member.field.name] = inner
            entry = .object(object)
            return place
        case .list(var elements):
            defer { entry = .list(elements) }
            guard let first = path.first else {
                guard verb == .add, elements.count < FormEntry.maximumElementCount else { return nil }
                if isLinks {
                    guard let added, !added.isEmpty else { return self.path }
                    guard !elements.contains(where: { $0.isText(added) }) else { throw Self.repetition(at: self.path) }
                    elements.append(.text(added))
                } else if let element = element(elements.count) {
                    elements.append(element.blank)
                }
                return "\(self.path).\(elements.count - 1)"
            }
            guard let index = Int(first), elements.indices.contains(index) else { return nil }
            guard path.count == 1 else {
                return try element(index)?.perform(verb, at: path.dropFirst(), added: added, on: &elements[index])
            }
            switch verb {
            case .remove:
                elements.remove(at: index)
                return self.path
            case .up where index > 0:
                elements.swapAt(index, index - 1)
                return "\(self.path).\(index - 1)"
            case .down where index < elements.count - 1:
                elements.swapAt(index, index + 1)
                return "\(self.path).\(index + 1)"
            default: return nil
            }
        }
    }

    // MARK: Repetitions

    /// A failure for each place where a list repeats a link more often than it did originally.
    func repetitions(_ entry: FormEntry, was: JSON) -> [RequestFailure] {
        switch (kind, entry) {
        case (.links, .list(let elements)):
            var left: [Value: Int] = [:]
            for id in was.items.compactMap(\.text) { left[.string(id), default: 0] += 1 }
            return elements.enumerated().compactMap { index, element in
                guard case .text(let id) = element else { return nil }
                left[.string(id), default: 1] -= 1
                return left[.string(id), default: 0] < 0 ? Self.repetition(at: "\(path).\(index)") : nil
            }
        case (.object, .object(let object)) where object.isThere:
            return members.flatMap { member in
                member.repetitions(
                    object.members[member.field.name] ?? member.blank, was: was[member.field.name] ?? .null)
            }
        case (.objects, .list(let elements)):
            return elements.enumerated().flatMap { index, entry -> [RequestFailure] in
                guard let element = element(index) else { return [] }
                return element.repetitions(entry, was: element.original(entry, among: was.items))
            }
        default: return []
        }
    }

    private static func repetition(at path: String) -> RequestFailure {
        RequestFailure(
            .unprocessable, "It's already in the list.", hint: "Choose another one.",
            source: .pointer("/data/attributes/\(path.replacing(".", with: "/"))"))
    }
}
