import Foundation
import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloLocalization

/// Checks where a form was sent from, using headers that browsers set and pages can't.
enum RequestOrigin {
    /// - Parameter isRequired: whether a request without such headers is refused. True if no session token protects it.
    /// - Throws: ``RequestFailure`` with status 403 for a form from another site's page.
    static func check(_ request: Request, isRequired: Bool) throws {
        // https://www.w3.org/TR/fetch-metadata/: sent only to addresses that nobody on the way can read.
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" || site == "none" else { throw refusal }
            return
        }
        guard let origin = request.headers[.origin] else {
            if isRequired { throw refusal }
            return
        }
        guard let start = origin.range(of: "://"), let authority = request.head.authority,
            origin[start.upperBound...].lowercased() == authority.lowercased()
        else { throw refusal }
    }

    private static var refusal: RequestFailure {
        RequestFailure(
            .forbidden, "This form was sent from another site, and nothing was changed.",
            hint:
                "Open the panel yourself and send the form from there. Any proxy in front must pass on the Host header."
        )
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
