import HTTPTypes
import Hummingbird
import NIOCore
package import TomboloHTTP
import TomboloModel
import TomboloLocalization

extension RequestExamples {
    /// A request that is refused whatever the objects are, with the document that answers it.
    package var failing: (request: ExampleRequest, status: Int, answer: JSON)? {
        var name = "nothing"
        while type.field(name) != nil { name += "Else" }
        let request = ExampleRequest(
            localized("Filter the \(self.name) by a field they don't have"), .get, type.path,
            query: [("filter[\(name)]", example(.string))])
        do {
            let query = request.query.map { [$0.name, $0.value].map(RequestParameters.encode).joined(separator: "=") }
            let head = HTTPRequest(
                method: request.method, scheme: nil, authority: nil,
                path: "\(request.path)?\(query.joined(separator: "&"))")
            let sent = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            // In English, as programs get it.
            return try MessageCatalogue.$current.withValue(nil) {
                do {
                    _ = try ResourceQuery(RequestParameters(sent), .list, of: type, for: view)
                    return nil
                } catch let failure as RequestFailure {
                    return (request, failure.code.status.code, JSONAPIFailure.document(failure, "…"))
                }
            }
        } catch { return nil }
    }
}
