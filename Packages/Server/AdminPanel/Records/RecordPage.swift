import AdminService
import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The page of one object: its fields, the objects it links to, and those that link to it.
struct RecordPage: Sendable {
    private static let template = PanelTemplate(PackageResources.record_mustache)

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    var path: String { ClassPages.path(of: type, id: request.parameter("id")) }

    /// The key in the address.
    /// - Throws: ``RequestFailure`` with status 404 if the text isn't a key of the class.
    func key() throws -> Value {
        guard let key = type.keyValue(request.parameter("id")) else {
            throw RequestFailure.noSuchObject(ClassTitle.singular(of: type))
        }
        return key
    }

    var crumbs: [PanelPage.Crumb] {
        [PanelPage.Crumb(title: ClassTitle.plural(of: type), path: ClassPages.path(of: type))]
    }

    func answer() async throws -> PanelAnswer {
        let key = try key()
        let reader = RecordReader(view: view, pool: request.core.pool)
        let record = try await reader.record(type, key: key)
        var values: [String: Any] = [
            "fields": view.fields(of: type).map { shown($0, record) }, "id": record.resource.id,
            "singular": ClassTitle.singular(of: type), "places": places(of: record),
        ]
        let asking = ResourceReader(view: view)
        let mayUpdate = try await asking.refusal(.update, type, key: key, request.core.pool) == nil
        if mayUpdate { values["edit"] = "\(path)/edit" }
        if view.refusal(.create, type) == nil {
            values["duplicate"] = EditPage.copyPath(of: type, id: record.resource.id)
        }
        let removal = JSONAPIRoutes.removal(of: type.item)
        if try await asking.refusal(removal, type, key: key, request.core.pool) == nil {
            values["delete"] = "\(path)/delete"
            values["isTrashable"] = type.item.isTrashable
        }
        if view.refusal(.audit, type) == nil {
            values["history"] = AuditPages.path(collection: type.item.collectionName, key: record.resource.id)
        }
        if request.core.models != nil, view.refusal(.inspect, type) == nil {
            values["devices"] = DevicePages.whyPath(className: type.item.name, id: record.resource.id)
        }
        var links: [[String: Any]] = []
        for incoming in try await reader.incoming(type, key: key) {
            var item = shown(incoming.link, record, key: key, mayUpdate: mayUpdate)
            item["count"] = PanelNumber.text(incoming.count, limit: RecordReader.countLimit)
            let first = try await reader.first(of: incoming, key: key)
            item["first"] = first.map {
                ["title": $0.title, "path": ClassPages.path(of: incoming.link.type, id: $0.id)]
            }
            item["hasFirst"] = !first.isEmpty
            links.append(item)
        }
        values["incoming"] = links
        values["hasIncoming"] = !links.isEmpty
        return .page(
            PanelPage(
                record.title, crumbs: crumbs, content: Self.template.render(values),
                watches: LivePages.path(of: type, id: record.resource.id, seen: record.resource.version ?? "")))
    }

    /// The objects that link to the record by one link, with the ways to see, add and edit them.
    private func shown(
        _ link: IncomingLink, _ record: RecordReader.Record, key: Value, mayUpdate: Bool
    ) -> [String: Any] {
        let id = record.resource.id
        var item: [String: Any] = [
            "title": ClassTitle.plural(of: link.type), "field": ClassTitle.words(link.field.name),
            "path": link.listPath(to: id), "singular": ClassTitle.inSentence(ClassTitle.singular(of: link.type)),
            "plural": ClassTitle.inSentence(ClassTitle.plural(of: link.type)),
        ]
        if view.refusal(.create, link.type) == nil { item["new"] = link.newPath(to: id) }
        if view.refusal(.update, link.type) == nil, RowsPage.isPossible(link.type, view) {
            item["rows"] = link.rowsPath(to: id)
        }
        let edit = EditPage(request: request, view: view, type: type)
        if mayUpdate, ChildRows(link, of: key, edit) != nil {
            item["together"] = "\(path)/edit?\(ChildRows.query(link))"
            item["parent"] = ClassTitle.inSentence(ClassTitle.singular(of: type))
        }
        return item
    }

    /// A field with its value. Links lead to targets that the caller may see.
    func shown(_ field: ResourceField, _ record: RecordReader.Record) -> [String: Any] {
        var values: [String: Any] = ["label": ClassTitle.words(field.name)]
        guard let index = field.target, let target = view.types[index] else {
            let json = record.resource.attribute(field.name)
            values.merge(CellText.value(json, field, limit: nil)) { $1 }
            if let html = field.markdownHTML(json) { values["markdownHTML"] = html }
            request.core.fieldStyles.show(json, field, of: type, isList: false, &values)
            if field.isBytes, case .string? = json {
                let path = BytesPages.path(of: type, id: record.resource.id, field)
                values["bytes"] = path
                if BytesPages.isImage(json) {
                    values["image"] = [
                        "path": BytesPages.imagePath(of: type, id: record.resource.id, field, .large, request.core),
                        "label": ClassTitle.words(field.name),
                    ]
                }
            }
            return values
        }
        guard let ids = record.resource.linked(field.name) else {
            values["text"] = localized("More than \(PanelNumber.text(ResourcePlan.maximumElementCount))")
            return values
        }
        if ids.isEmpty {
            values.merge(CellText.empty) { $1 }
            return values
        }
        values["links"] = ids.prefix(RecordReader.shownLinkCount).map { id -> [String: Any] in
            guard let title = record.titles[RecordReader.Target(classIndex: index, id: id)] else {
                return ["text": id, "isHidden": true]
            }
            return ["text": title, "path": ClassPages.path(of: target, id: id)]
        }
        if ids.count > RecordReader.shownLinkCount {
            values["more"] = PanelNumber.text(ids.count - RecordReader.shownLinkCount)
        }
        return values
    }
}
