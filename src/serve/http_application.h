#pragma once

#include "serve/http_message.h"

namespace bet {

// Answers the requests of a server. Many threads call it at once; it never throws.
class HttpApplication {
 public:
  HttpApplication() = default;
  virtual ~HttpApplication() = default;
  HttpApplication(const HttpApplication&) = delete;
  HttpApplication& operator=(const HttpApplication&) = delete;

  // HEAD is answered as GET is; the server leaves out the body.
  virtual HttpResponse answer(const HttpRequest& request) const = 0;

  // Whether the answer is cheap enough for the network thread itself, so that it is given even when
  // all workers are busy and the queue is full.
  virtual bool is_quick(const HttpRequest& request) const = 0;
};

}  // namespace bet
