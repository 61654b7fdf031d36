import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The API page of one class: its fields, the filters and sorts that its lists support, and an example request for each
/// operation.
struct APIClassPage {
    private static let template = PanelTemplate(PackageResources.api_class_mustache)
    /// How many objects are tried as the link target of a new object.
    private static let candidateCount = 20

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    func page() async throws -> PanelPage {
        let content = APIClassContent(
            examples: RequestExamples(type, for: view, with: try await samples()),
            server: APIPages.server(request), login: APIPages.login(request))
        let title = ClassTitle.plural(of: type)
        return PanelPage(
            localized("API: \(title)"), crumbs: [APIPages.crumb], content: Self.template.render(content.values))
    }

    // MARK: Objects for examples

    /// Objects that the caller can see, so that the examples work unchanged.
    private func samples() async throws -> RequestExamples.Samples {
        var samples = RequestExamples.Samples()
        samples.update = try await sample(.update)
        samples.read = samples.update
        if samples.read == nil { samples.read = try await sample(nil) }
        guard view.refusal(.create, type) == nil else { return samples }
        samples.create = try await sample(.create)
        samples.links = try await links(samples.create)
        return samples
    }

    private func sample(_ operation: TomboloRules.Operation?) async throws -> ResourceSample? {
        if let operation, view.refusal(operation, type) != nil { return nil }
        return try await ResourceReader(view: view).patientSample(of: type, permitting: operation, request.core.pool)
    }

    /// The resource identifiers that a new object links to, by relationship. They come from a sample object that the
    /// caller could have created. Without a sample, they cover the required links and those that the rules check.
    private func links(_ sample: ResourceSample?) async throws -> [String: JSON] {
        let all = Resource.objects(classIndex: type.classIndex)
        guard case .allowed(let filter) = view.rules.authorize(view.subject, .create, all) else { return [:] }
        var links: [String: JSON] = [:]
        for field in view.fields(of: type) {
            guard case .toOne(let column, let index) = field.content, let target = view.types[index] else { continue }
            if let sample {
                links[field.name] = sample.linked(field.name).first
            } else if field.isRequiredOnCreation
                || filter.paths.contains(PropertyPath(type.item.columns[column].name))
            {
                links[field.name] = try await candidate(target, column)
            }
        }
        return links
    }

    /// The first object that the rules let a new object link to in this column.
    private func candidate(_ target: ResourceType, _ column: Int) async throws -> JSON? {
        let reader = RecordReader(view: view, pool: request.core.pool)
        let choices = try await reader.choices(
            of: target, matching: .constant(true), limit: Self.candidateCount, isByTitle: false)
        let found = choices.first { choice in
            guard let key = target.keyValue(choice.id) else { return false }
            let having = Resource.objects(classIndex: type.classIndex, having: [column: key])
            return switch view.rules.authorize(view.subject, .create, having) {
            case .allowed(.constant(false)), .denied: false
            case .allowed: true
            }
        }
        return found.map { ["type": .string(target.name), "id": .string($0.id)] }
    }
}
