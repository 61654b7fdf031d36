internal import TomboloChangesets
internal import TomboloModel

extension MessageCodec {
    func wire(_ message: ServerMessage) -> WireServerMessage {
        var result = WireServerMessage()
        switch message {
        case .welcome(let welcome):
            result.welcome.protocolVersion = UInt32(clamping: welcome.protocolVersion)
            result.welcome.serverTimeMicroseconds = welcome.serverTime.microseconds
            result.welcome.lastChangeset = welcome.lastChangeset
            result.welcome.isExpired = welcome.isExpired
        case .frame(let frame): result.frame = wire(frame)
        case .end(let end): result.end = wire(end)
        case .reset(let reason): result.reset.reason = reason
        case .failure(let failure):
            result.failure.code = wire(failure.code)
            result.failure.message = failure.message
            result.failure.isRetryable = failure.isRetryable
        }
        return result
    }

    func decode(_ message: WireServerMessage) throws(ProtocolError) -> ServerMessage {
        switch message.message {
        case nil: throw ProtocolError(.malformed, "A message of a kind that this version doesn't know.")
        case .welcome(let welcome):
            guard welcome.lastChangeset >= 0 else {
                throw ProtocolError(.malformed, "welcome: last changeset \(welcome.lastChangeset)")
            }
            return .welcome(
                Welcome(
                    protocolVersion: Int(welcome.protocolVersion),
                    serverTime: Stamp(microseconds: welcome.serverTimeMicroseconds),
                    lastChangeset: welcome.lastChangeset, isExpired: welcome.isExpired))
        case .frame(let frame): return .frame(try decode(frame))
        case .end(let end):
            do throws(ProtocolError) {
                return .end(try decode(end))
            } catch {
                throw error.at("end of batch")
            }
        case .reset(let reset): return .reset(reset.reason)
        case .failure(let failure):
            return .failure(
                SessionFailure(try code(failure.code), failure.message, isRetryable: failure.isRetryable))
        }
    }

    private func wire(_ end: BatchEnd) -> WireBatchEnd {
        var result = WireBatchEnd()
        result.position = wire(end.position)
        result.serverTimeMicroseconds = end.serverTime.microseconds
        result.acknowledged = end.acknowledged
        result.refusals = end.refusals.map(wire)
        result.replacesAll = end.replacesAll
        result.frameCount = UInt32(clamping: end.frameCount)
        result.traceparents = end.traceparents
        return result
    }

    private func decode(_ end: WireBatchEnd) throws(ProtocolError) -> BatchEnd {
        guard end.acknowledged >= 0 else {
            throw ProtocolError(.malformed, "changeset \(end.acknowledged) as the last acknowledged one")
        }
        var refusals: [RefusedWrite] = []
        for refusal in end.refusals {
            do throws(ProtocolError) {
                refusals.append(try decode(refusal))
            } catch {
                throw error.at("refusal of changeset \(refusal.number)")
            }
        }
        return BatchEnd(
            position: try decode(end.position), serverTime: Stamp(microseconds: end.serverTimeMicroseconds),
            acknowledged: end.acknowledged, refusals: refusals, replacesAll: end.replacesAll,
            frameCount: Int(end.frameCount),
            traceparents: end.traceparents.prefix(Self.maximumTraceparentCount).filter {
                $0.utf8.count <= Self.maximumTraceparentByteCount
            })
    }

    func wire(_ refused: RefusedWrite) -> WireRefusedWrite {
        var result = WireRefusedWrite()
        result.number = refused.number
        result.message = refused.refusal.message
        result.code =
            switch refused.refusal.code {
            case .notPermitted: .notPermitted
            case .constraint: .constraint
            case .invalid: .invalid
            case .setAside: .setAside
            }
        if let name = refused.refusal.className {
            result.className = schema.index(of: name).flatMap { names.classes[$0] } ?? name
        }
        if let key = refused.refusal.key { result.key = wire(key) }
        if let role = refused.refusal.role { result.role = role }
        return result
    }

    func decode(_ refused: WireRefusedWrite) throws(ProtocolError) -> RefusedWrite {
        let code: Refusal.Code
        switch refused.code {
        case .notPermitted: code = .notPermitted
        case .constraint: code = .constraint
        case .invalid: code = .invalid
        case .setAside: code = .setAside
        case .unspecified, .UNRECOGNIZED:
            throw ProtocolError(.malformed, "refusal code \(refused.code.rawValue), which does not exist")
        }
        return RefusedWrite(
            number: refused.number,
            refusal: Refusal(
                code, refused.message, className: refused.hasClassName ? refused.className : nil,
                key: refused.hasKey ? try decode(refused.key) : nil, role: refused.hasRole ? refused.role : nil))
    }

    private func wire(_ code: SessionFailure.Code) -> WireFailureCode {
        switch code {
        case .unsupportedVersion: .unsupportedVersion
        case .notAuthenticated: .notAuthenticated
        case .badMessage: .badMessage
        case .badSubscription: .badSubscription
        case .badSchema: .badSchema
        case .tooLarge: .tooLarge
        case .unavailable: .unavailable
        case .notPermitted: .notPermitted
        }
    }

    private func code(_ wire: WireFailureCode) throws(ProtocolError) -> SessionFailure.Code {
        switch wire {
        case .unsupportedVersion: return .unsupportedVersion
        case .notAuthenticated: return .notAuthenticated
        case .badMessage: return .badMessage
        case .badSubscription: return .badSubscription
        case .badSchema: return .badSchema
        case .tooLarge: return .tooLarge
        case .unavailable: return .unavailable
        case .notPermitted: return .notPermitted
        case .unspecified, .UNRECOGNIZED:
            throw ProtocolError(.malformed, "failure code \(wire.rawValue), which does not exist")
        }
    }
}
