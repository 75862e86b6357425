#pragma once

#include "serve/http_message.h"

namespace bet {

// What a server answers. Many threads call it at once; it never throws.
class HttpApplication {
 public:
  HttpApplication() = default;
  virtual ~HttpApplication() = default;
  HttpApplication(const HttpApplication&) = delete;
  HttpApplication& operator=(const HttpApplication&) = delete;

  // HEAD is answered as GET is; the server leaves out the body.
  virtual HttpResponse answer(const HttpRequest& request) const = 0;

  // Whether the answer takes so little that the network's own thread may give it, so that it comes
  // when all workers are busy and the queue is full.
  virtual bool is_quick(const HttpRequest& request) const = 0;
};

}  // namespace bet
