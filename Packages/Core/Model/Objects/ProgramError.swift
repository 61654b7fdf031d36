/// Stops the program because of a mistake in it, with a message also in release builds.
package func programError(_ message: String) -> Never { fatalError(message) }
