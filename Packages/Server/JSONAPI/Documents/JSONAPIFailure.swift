import HTTPTypes
package import TomboloHTTP

/// Failures as JSON:API error objects.
package enum JSONAPIFailure {
    static let format = FailureFormat(contentType: JSONAPIMediaType.name) { failure, requestID in
        var json = JSONBytes()
        document(failure, requestID).append(to: &json)
        return json
    }

    /// The document that answers a request with a failure.
    package static func document(_ failure: RequestFailure, _ requestID: String) -> JSON {
        let errors = ([failure] + failure.others).map { error($0, requestID) }
        return ["jsonapi": ["version": "1.1"], "errors": .array(errors)]
    }

    private static func error(_ failure: RequestFailure, _ requestID: String) -> JSON {
        var members: [String: JSON] = [
            "id": .string(requestID), "status": .string("\(failure.code.status.code)"),
            "code": .string(failure.code.rawValue), "title": .string(title(failure.code)),
            "detail": .string(failure.message),
        ]
        switch failure.source {
        case .parameter(let name): members["source"] = ["parameter": .string(name)]
        case .pointer(let pointer): members["source"] = ["pointer": .string(pointer)]
        case .header(let name): members["source"] = ["header": .string(name)]
        case nil: break
        }
        var meta: [String: JSON] = [:]
        if let hint = failure.hint { meta["remedy"] = .string(hint) }
        if !failure.properties.isEmpty { meta["properties"] = .array(failure.properties.map(JSON.string)) }
        if !meta.isEmpty { members["meta"] = .object(meta) }
        return .object(members)
    }

    /// The title, which is the same for every failure with this code, as the specification demands.
    private static func title(_ code: RequestFailure.Code) -> String {
        switch code {
        case .badRequest: "Malformed request"
        case .unauthenticated, .wrongCredentials: "Log in first"
        case .forbidden: "Not permitted"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .notAcceptable: "Response type not accepted"
        case .conflict: "Conflict with existing data"
        case .preconditionFailed: "Changed since it was read"
        case .tooLarge: "Too large"
        case .unsupportedMediaType: "Unsupported body type"
        case .unprocessable: "Invalid data"
        case .tooManyRequests: "Too many requests"
        case .unavailable, .timeout: "Temporarily unavailable"
        default: "Server error"
        }
    }
}
