import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The form of an object with the rows of others that link to it.
extension EditPage {
    /// The rows that the address asks for, if it does.
    /// - Parameter key: nil for a new object.
    /// - Throws: ``RequestFailure``: 404 for what isn't a link to the class that the caller may see, 403 where they may
    ///   change nothing of the other class, 400 where rows haven't what it takes.
    func children(of key: Value?) throws -> ChildRows? {
        guard let name = request.query(ChildRows.parameter) else { return nil }
        let links = IncomingLink.all(to: type, view)
        let plural = ClassTitle.inSentence(ClassTitle.plural(of: type))
        guard let link = links.first(where: { $0.name == name }) else {
            throw RequestFailure(
                .notFound, "Nothing links to \(plural) by '\(name.shortened(toByteCount: 60))'.",
                hint: ResourceQuery.nearest(name, links.map(\.name)))
        }
        if let children = ChildRows(link, of: key, self) { return children }
        if let denial = view.refusal(key == nil ? .create : .update, link.type) { throw RequestFailure(denial) }
        throw RequestFailure(
            .badRequest,
            "\(ClassTitle.plural(of: link.type)) can't be edited in one form with \(plural): they need more than rows have.",
            hint: "Open the form of each.")
    }

    /// Links to the same form with the rows of each class for which that works.
    func together(_ content: Content, isNew: Bool) throws -> [[String: Any]] {
        let key = isNew ? nil : try page.key()
        let links = IncomingLink.all(to: type, view).filter { ChildRows($0, of: key, self) != nil }
        // What a new object begins with stays.
        let others = isNew ? try RequestParameters(request.request).query(replacing: [(ChildRows.parameter, nil)]) : ""
        let path = "\(isNew ? Self.newPath(of: type) : "\(page.path)/edit")?\(others.isEmpty ? "" : "\(others)&")"
        return links.map { link in
            let isOne = links.count { $0.type.classIndex == link.type.classIndex } == 1
            let plural = ClassTitle.plural(of: link.type)
            return [
                "title": isOne ? plural : "\(plural) (\(ClassTitle.words(link.field.name)))",
                "path": path + ChildRows.query(link),
                "isCurrent": link.name == content.children?.link.name, "isLast": link.name == links.last?.name,
            ]
        }
    }
}
