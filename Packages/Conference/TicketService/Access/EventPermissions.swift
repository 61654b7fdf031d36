import EventModels
import TomboloHTTP
import TomboloModel
import TomboloRules

/// What each role may do in an event, as shown to the event's staff.
enum EventPermissions {
    /// By role and service, in the matrix's letters: `-ru-`.
    static func json(_ rules: Rules) throws -> JSON {
        let name = ObjectClass.of(Event.self).schema.name
        guard
            let matrix = rules.matrices.values.first(where: { $0.services.contains { $0.classNames.contains(name) } })
        else { throw RequestFailure(.notFound, "The rules have no permission matrix for events.") }
        let rows = matrix.roles.map { role in
            let cells = matrix.services.map { service in
                (service.name, JSON.string(matrix.letters(role: role, service: service.name)))
            }
            return (role, JSON.object(Dictionary(cells, uniquingKeysWith: { first, _ in first })))
        }
        return ["permissions": .object(Dictionary(rows, uniquingKeysWith: { first, _ in first }))]
    }
}
