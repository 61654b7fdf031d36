import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// An object's form together with rows of other objects that link to it.
extension EditPage {
    /// The buttons that show rows of another class; a button's value is the link's name.
    static let withField = "_with"

    /// The rows that the address asks for, if any.
    /// - Parameter key: nil for a new object.
    /// - Throws: ``RequestFailure``: 404 if it isn't a link to this class that the caller may see, 403 if they may not
    ///   change anything of the other class, 400 if rows can't hold everything that the other class requires.
    func children(of key: Value?) throws -> ChildRows? {
        try request.query(ChildRows.parameter).map { try children(by: $0, of: key) }
    }

    /// - Parameter name: the link's name.
    private func children(by name: String, of key: Value?) throws -> ChildRows {
        let links = IncomingLink.all(to: type, view)
        let plural = ClassTitle.inSentence(ClassTitle.plural(of: type))
        guard let link = links.first(where: { $0.name == name }) else {
            throw RequestFailure(
                .notFound, localized("Nothing links to \(plural) through '\(name.shortened(toByteCount: 60))'."),
                hint: ResourceQuery.nearest(name, links.map(\.name)).localized)
        }
        if let children = ChildRows(link, of: key, self) { return children }
        if let denial = view.refusal(key == nil ? .create : .update, link.type) { throw RequestFailure(denial) }
        throw RequestFailure(
            .badRequest,
            "\(ClassTitle.plural(of: link.type)) can't be edited in one form with \(plural): they have required fields "
                + "that rows can't show.",
            hint: "Open the form of each.")
    }

    /// Applies the buttons for rows of other classes.
    /// - Returns: whether one of them was pressed, so that nothing is saved; the form then has the rows, and keeps the
    ///   input for the object.
    func changesRows(of content: inout Content, _ key: Value?) async throws -> Bool {
        guard let name = request.form[Self.withField] else { return false }
        if let children = content.children, children.count > 0, children.link.name != name {
            content.problems.append(
                RequestFailure(
                    .unprocessable,
                    "The rows of \(ClassTitle.inSentence(ClassTitle.plural(of: children.type))) have unsaved changes.",
                    hint: "Save them before you edit others."))
        } else if content.children?.link.name != name {
            content.children = try await children(by: name, of: key).read()
        }
        return true
    }

    /// Buttons for the rows of each class that can be edited this way.
    func together(_ content: Content, isNew: Bool) throws -> [[String: Any]] {
        let key = isNew ? nil : try page.key()
        let links = IncomingLink.all(to: type, view).filter { ChildRows($0, of: key, self) != nil }
        return links.map { link in
            let isOne = links.count { $0.type.classIndex == link.type.classIndex } == 1
            let plural = ClassTitle.plural(of: link.type)
            return [
                "title": isOne ? plural : "\(plural) (\(ClassTitle.words(link.field.name)))",
                "withField": Self.withField, "name": link.name, "isCurrent": link.name == content.children?.link.name,
            ]
        }
    }
}
