package import TomboloHTTP
package import TomboloModel

/// What a request sets in a resource, checked against the schema and what the caller may see, but not yet against the
/// rules for writing.
package struct ResourceChange: Sendable {
    package internal(set) var contents = ResourceContents()
    /// Links that a list gains or loses, by the position of the element class. Its other links stay.
    package internal(set) var listEdits: [Int: ListEdit] = [:]
    /// The objects that links lead to.
    package internal(set) var links: [Link] = []
    /// Where in the body the links of a list are, by the position of the element class.
    package internal(set) var listPointers: [Int: RequestPointer] = [:]
    /// The problems, up to ``maximumProblemCount``.
    package private(set) var problems: [RequestFailure] = []
    /// Whether the values were entered in a form of a page. Advice then doesn't speak of JSON.
    package var isForm = false
    /// Whether the values were read from a resource, or are from a file that may be an export: numbers may be infinite,
    /// as in ``ResourceMembers``, and decimals NaN.
    var isOwn = false

    /// New values, by column.
    package var values: [Int: Value] { contents.values }
    /// Where in the body a column's value is.
    package var pointers: [Int: RequestPointer] { contents.pointers }

    package enum ListEdit: Sendable {
        /// Appends those that the list doesn't have yet.
        case add([Value])
        /// Removes those that the list has, every occurrence.
        case remove([Value])
    }

    package struct Link: Sendable {
        package let target: ResourceType
        package let key: Value
        package let pointer: RequestPointer
    }

    package let type: ResourceType
    let view: CallerView
    let fields: [ResourceField]
    /// The keys of objects that the same request creates, by type and local id.
    let localKeys: [LocalIdentifier: Value]

    package struct LocalIdentifier: Hashable, Sendable {
        private let type: String
        /// A string value, since those are compared by their bytes: a request may have two ids that only look the same.
        private let lid: Value

        package init(type: String, lid: String) {
            self.type = type
            self.lid = .string(lid)
        }
    }

    package init(_ type: ResourceType, _ view: CallerView, localKeys: [LocalIdentifier: Value] = [:]) {
        self.type = type
        self.view = view
        self.localKeys = localKeys
        fields = view.fields(of: type)
    }

    mutating func refuse(
        _ pointer: RequestPointer, _ problem: Wording, _ remedy: Wording, _ code: RequestFailure.Code = .unprocessable
    ) {
        guard !hasAllProblems else { return }
        problems.append(RequestFailure(code, problem, hint: remedy, source: .pointer(pointer.description)))
    }

    /// Reports a problem that only programs can cause, in English.
    mutating func refuse(
        _ pointer: RequestPointer, _ problem: String, _ remedy: String, _ code: RequestFailure.Code = .unprocessable
    ) {
        refuse(pointer, Wording(untranslated: problem), Wording(untranslated: remedy), code)
    }

    /// Nobody reads more than this.
    package static let maximumProblemCount = 20

    /// Whether no further problem will be reported. Code can then skip the work of describing one.
    var hasAllProblems: Bool { problems.count >= Self.maximumProblemCount }

    /// Sets a column that the caller may read to a value that didn't come as JSON.
    /// - Parameter pointer: where the body asks for it.
    package mutating func put(_ value: Value, in column: Int, at pointer: RequestPointer) {
        guard let field = Self.field(of: column, among: fields) else {
            return refuse(pointer, Wording("\(type.name) have no such property."), Wording("Leave it out."))
        }
        changing { change, contents in
            change.set(column, value, of: change.type.item, into: &contents, at: pointer)
        }
        guard !value.isNull, case .toOne(_, let target) = field.content, let target = view.types[target] else { return }
        links.append(Link(target: target, key: value, pointer: pointer))
    }

    /// The field of a column, possibly in an embedded object.
    private static func field(of column: Int, among fields: [ResourceField]) -> ResourceField? {
        for field in fields {
            if field.column == column { return field }
            if case .embedded(_, let inner) = field.content, let found = Self.field(of: column, among: inner) {
                return found
            }
        }
        return nil
    }

    /// Whether the change writes a list of the object itself, given by the position of its element class.
    func writesList(_ elements: Int) -> Bool {
        (contents.lists[elements] != nil || contents.objects[elements] != nil || listEdits[elements] != nil)
            && !contents.unnamedLists.contains(elements)
    }

    /// The change without those lists of embedded objects that weren't sent and are too long to be shown: a caller who
    /// sends back what they were shown can't know about them.
    func leavingUnshown(_ shown: ResourceMembers) -> ResourceChange {
        var change = self
        for elements in shown.unshownLists(of: fields).keys where contents.unnamedLists.contains(elements) {
            change.contents.lists[elements] = nil
            change.contents.objects[elements] = nil
        }
        return change
    }

    /// Lets `body` report problems while it fills the contents.
    mutating func changing(_ body: (inout ResourceChange, inout ResourceContents) -> Void) {
        var contents = ResourceContents()
        swap(&contents, &self.contents)
        body(&self, &contents)
        self.contents = contents
    }

    /// - Throws: the problems, if there are any.
    package func check() throws {
        guard var first = problems.first else { return }
        first.others = Array(problems.dropFirst())
        throw first
    }

    // MARK: Reading a resource object

    /// Reads `attributes` and `relationships`. It ignores members that JSON:API doesn't know, as the specification
    /// demands.
    /// - Parameter pointer: where the resource object is.
    package mutating func read(_ resource: JSON, at pointer: RequestPointer) {
        switch resource["attributes"] {
        case .object(let attributes):
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
                readAttribute(name, value, at: pointer / "attributes" / name)
            }
        case nil: break
        default: refuse(pointer / "attributes", "'attributes' isn't a JSON object.", "Send {\"name\": value, …}.")
        }
        switch resource["relationships"] {
        case .object(let relationships):
            for (name, value) in relationships.sorted(by: { $0.key < $1.key }) {
                readRelationship(name, value, at: pointer / "relationships" / name)
            }
        case nil: break
        default:
            refuse(pointer / "relationships", "'relationships' isn't a JSON object.", "Send {\"name\": {\"data\": …}}.")
        }
    }

    private mutating func readAttribute(_ name: String, _ json: JSON, at pointer: RequestPointer) {
        guard let field = fields.first(where: { $0.name == name && !$0.isRelationship }) else {
            guard !hasAllProblems else { return }
            let isRelationship = fields.contains { $0.name == name }
            let known = fields.filter { !$0.isRelationship }.map(\.name)
            return refuse(
                pointer, Wording("\(type.name) have no attribute '\(name.shortened(toByteCount: 60))'."),
                isRelationship
                    ? Wording("It's a relationship: send it in 'relationships'.") : ResourceQuery.nearest(name, known)
            )
        }
        changing { change, contents in
            change.readField(field, json, of: change.type.item, into: &contents, at: pointer)
        }
    }
}
